// SPDX-License-Identifier: Apache-2.0
//
// The layers of lane programs, one operation at a time: every operation on every type, with the destination and the
// arguments being each other's vectors and constants in every place, against the definition of jit/lane/lane.hpp;
// loads, stores and broadcasts of every dtype, whole and of every tail, in buffers that end at pages that cannot be
// touched; and random programs, in which values leave their vectors and come back. Each layer runs on the CPU where it
// can, and in the emulator.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <sstream>

#include "guarded_buffer.hpp"
#include "jit/code.hpp"
#include "jit/lane/emit.hpp"
#include "jit/lane/layer.hpp"
#include "settings.hpp"
#include "tests/unit/jit/lane_interpreter.hpp"
#ifdef TENFOLD_EMULATED
#include "emulator/emulator.hpp"
#endif

namespace tenfold::numeric {
namespace {

using jit::lane_bytes;
using jit::LaneLayer;
using jit::LaneNode;
using jit::LaneOp;
using jit::LaneOrder;
using jit::LaneSource;
using jit::LaneType;
using jit::Memory;
using jit::Part;
using jit::Vec;
using Random = std::mt19937_64;
using Words = std::array<std::uint64_t, 3>;

// ---------------------------------------------------------------------------------------------------------------------
// The definition
// ---------------------------------------------------------------------------------------------------------------------

std::uint64_t low_bits(std::uint64_t x, int bytes) { return x & (~std::uint64_t{0} >> (64 - 8 * bytes)); }

template <class T>
T real(std::uint64_t x) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(static_cast<std::uint32_t>(x));
  else
    return std::bit_cast<T>(x);
}
template <class T>
std::uint64_t bits(T x) {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<std::uint32_t>(x);
  else
    return std::bit_cast<std::uint64_t>(x);
}

constexpr std::size_t kMostLanes = 64;
/// Arguments, or results, of one operation: by lane.
using Lanes = std::array<Words, kMostLanes>;
using Results = std::array<std::uint64_t, kMostLanes>;

/// What the interpreter makes of `node`, in steps of so many lanes.
Results defined(const LaneNode& node, const Lanes& lanes, int step = 16) {
  const std::size_t bytes = static_cast<std::size_t>(lane_bytes(node.type));
  const std::size_t result_bytes = static_cast<std::size_t>(lane_bytes(jit::result_type(node)));
  jit::LaneProgram program;
  std::array<std::array<std::byte, 8 * kMostLanes>, 3> packed{};
  LaneNode last = node;
  for (std::size_t arg = 0; arg < static_cast<std::size_t>(jit::arity(node.op)); ++arg) {
    program.nodes.push_back({LaneOp::input, node.type, {-1, -1, -1}, arg});
    last.args[arg] = static_cast<int>(arg);
    for (std::size_t i = 0; i < kMostLanes; ++i) std::memcpy(packed[arg].data() + i * bytes, &lanes[i][arg], bytes);
  }
  program.results.push_back(static_cast<int>(program.nodes.size()));
  program.nodes.push_back(last);
  std::array<std::byte, 8 * kMostLanes> results{};
  const void* const inputs[] = {packed[0].data(), packed[1].data(), packed[2].data()};
  void* const outputs[] = {results.data()};
  jit::interpret(program, kMostLanes, inputs, outputs, static_cast<std::size_t>(step));
  Results unpacked{};
  for (std::size_t i = 0; i < kMostLanes; ++i)
    std::memcpy(&unpacked[i], results.data() + i * result_bytes, result_bytes);
  return unpacked;
}

bool is_nan(LaneType type, std::uint64_t x) {
  return type == LaneType::f32 ? std::isnan(real<float>(x)) : type == LaneType::f64 && std::isnan(real<double>(x));
}

/// Which NaN an operation of reals gives is left open; what moves bits about moves NaNs as they are.
bool same(const LaneNode& node, std::uint64_t expected, std::uint64_t got) {
  const LaneType type = jit::result_type(node);
  const bool computes = jit::is_real(node.type) && !(node.op >= LaneOp::bit_and && node.op <= LaneOp::select);
  return expected == got || (computes && is_nan(type, expected) && is_nan(type, got));
}

// ---------------------------------------------------------------------------------------------------------------------
// Values
// ---------------------------------------------------------------------------------------------------------------------

enum class Role { value, mask, count };

Role role(const LaneNode& node, int arg) {
  if (node.op == LaneOp::select && arg == 0) return Role::mask;
  const bool shifts = node.op >= LaneOp::shift_left_by && node.op <= LaneOp::shift_right_arithmetic_by;
  return shifts && arg == 1 ? Role::count : Role::value;
}

template <class T>
std::uint64_t draw_real(Random& random) {
  using Limits = std::numeric_limits<T>;
  constexpr double kFinite[] = {0,   1,   2,    0.5,    1.5,    2.5,   3.5,   1e5,          0x1p31 - 1,   0x1p31,
                                3e9, 0.1, 5e18, 0x1p63, 0x1p64, 65504, 65520, 0x1p31 - 128, 0x1p31 - 0.5, 0x1p31 + 0.5};
  const T limits[] = {Limits::min(),      Limits::denorm_min(), Limits::max(),           Limits::epsilon(),
                      Limits::infinity(), Limits::quiet_NaN(),  Limits::signaling_NaN(), 1 / Limits::epsilon()};
  const std::uint64_t sign = (random() & 1) << (8 * sizeof(T) - 1);
  switch (random() % 5) {
    case 0: return low_bits(random(), sizeof(T));
    case 1: return bits(static_cast<T>(static_cast<double>(random() % 4000) / 4)) ^ sign;
    case 2: {
      const int exponent = 1 + static_cast<int>(random() % 70);
      return bits(static_cast<T>(std::ldexp(static_cast<double>(random()) / 0x1p64, exponent))) ^ sign;
    }
    case 3: return bits(static_cast<T>(kFinite[random() % std::size(kFinite)])) ^ sign;
    default: return bits(limits[random() % std::size(limits)]) ^ sign;
  }
}

std::uint64_t draw_integer(int bytes, Random& random) {
  const std::uint64_t special[] = {
      0,           1,           ~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} >> 1,
      0x8000'0000, 0x7fff'ffff, 0xffff'ffff,       0x1'0000'0000,          7,
      0x80,        0x8000};
  const auto kind = random() % 3;
  const std::uint64_t x = kind == 0   ? special[random() % std::size(special)]
                          : kind == 1 ? random()
                                      : random() >> (random() % 64);
  return low_bits(x, bytes);
}

std::uint64_t draw(LaneType type, Role wanted, Random& random) {
  const int bytes = lane_bytes(type);
  if (wanted == Role::mask) return low_bits(random(), bytes);
  if (wanted == Role::count && random() % 2 == 0) return random() % (9 * static_cast<std::uint64_t>(bytes));
  if (type == LaneType::f32) return draw_real<float>(random);
  return type == LaneType::f64 ? draw_real<double>(random) : draw_integer(bytes, random);
}

// ---------------------------------------------------------------------------------------------------------------------
// Running
// ---------------------------------------------------------------------------------------------------------------------

struct Subject {
  target::Isa isa;
  bool emulated;
};

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << target::to_string(subject.isa) << (subject.emulated ? " emulated" : " on the CPU");
}

using VectorBytes = std::array<std::uint8_t, 64>;

/// What emitted code sees at rdi; rbp points at the scratch.
struct alignas(64) Block {
  std::array<VectorBytes, 28> vectors{};
  std::array<std::uint8_t, 12288> scratch{};
  std::uint8_t* buffer = nullptr;
  std::uint64_t count = 0;
  std::array<std::uint64_t, 3> gprs{};  ///< rax, rcx, rdx at the end

  std::uint64_t lane(Vec v, int i, int bytes) const {
    std::uint64_t x = 0;
    std::memcpy(&x, vectors[static_cast<std::size_t>(v)].data() + i * bytes, static_cast<std::size_t>(bytes));
    return x;
  }
  void set_lane(Vec v, int i, int bytes, std::uint64_t x) {
    std::memcpy(vectors[static_cast<std::size_t>(v)].data() + i * bytes, &x, static_cast<std::size_t>(bytes));
  }
};

constexpr int kScratch = offsetof(Block, scratch);

class LaneLayers : public ::testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
#ifdef TENFOLD_EMULATED
    if (GetParam().emulated && !emulator::can_emulate()) GTEST_SKIP() << "NOT RUN: this CPU has no AVX2, FMA and F16C";
#else
    if (GetParam().emulated) GTEST_SKIP() << "NOT RUN: built without the emulator";
#endif
    const Result<target::Target> host = target::host();
    if (!GetParam().emulated && (!host.ok() || host.value().isa < GetParam().isa))
      GTEST_SKIP() << "NOT RUN on the CPU, which has no " << target::to_string(GetParam().isa);
    std::printf("seed %llu\n", static_cast<unsigned long long>(test_seed()));
  }

  /// Emits a function of what `body` emits, between reading all vectors from the block and writing them back.
  template <class Body>
  std::vector<std::uint8_t> emit(int lanes, const Body& body, LaneOrder order = LaneOrder::straight) {
    jit::Assembler assembler;
    Xbyak::CodeGenerator& c = assembler.code();
    const auto layer = LaneLayer::make(assembler, GetParam().isa, lanes, order);
    vectors_ = layer->vectors();
    assembler.prologue();
    c.lea(c.rbp, c.ptr[c.rdi + kScratch]);
    for (Vec v = 0; v < vectors_; ++v) layer->reload(v, Memory(c.rdi) + 64 * v);
    body(assembler, *layer);
    for (Vec v = 0; v < vectors_; ++v) layer->spill(Memory(c.rdi) + 64 * v, v);
    c.vzeroupper();
    assembler.epilogue();
    Result<std::vector<std::uint8_t>> code = assembler.finish();
    EXPECT_TRUE(code.ok()) << code.status().message();
    return code.ok() ? code.value() : std::vector<std::uint8_t>{0xc3};
  }

  /// Runs the code; `size` bytes at the block's buffer may be touched.
  std::string run(std::span<const std::uint8_t> code, Block& block, std::size_t size = 0) {
    if (!GetParam().emulated) {
      const auto published = memory_.publish(code, 0, "lanes");
      if (!published.ok()) return published.status().message();
      published.value()->function()(reinterpret_cast<const jit::KernelArgs*>(&block));
      return "";
    }
#ifdef TENFOLD_EMULATED
    emulator::Emulator emulated(code, GetParam().isa);
    emulated.memory().allow(&block, sizeof block, emulator::Access::read_write, "block");
    if (size > 0) emulated.memory().allow(block.buffer, size, emulator::Access::read_write, "buffer");
    const Status status = emulated.run(&block);
    return status.ok() ? "" : status.message();
#else
    return "no emulator, nowhere for " + std::to_string(size) + " bytes";
#endif
  }

  Block random_block() {
    Block block;
    for (VectorBytes& v : block.vectors)
      for (std::uint8_t& byte : v) byte = static_cast<std::uint8_t>(random_());
    return block;
  }

  Vec draw_vector() { return static_cast<Vec>(random_() % static_cast<std::uint64_t>(vectors_)); }

  Random random_{test_seed()};
  int vectors_ = 7;
  jit::CodeMemory memory_;
};

// ---------------------------------------------------------------------------------------------------------------------
// Operations
// ---------------------------------------------------------------------------------------------------------------------

/// Which vector each argument is, by a number that counts different ones (-1: a constant); and the destination.
struct Places {
  std::array<int, 3> args{-1, -1, -1};
  int d = 0;
  int different = 0;
};

/// Every way for the arguments to be constants and each other's vectors, and for the destination to be one of them or
/// none. Not constants alone, which only bit_and need take.
std::vector<Places> all_places(const LaneNode& node) {
  std::vector<Places> all{{}};
  for (std::size_t arg = 0; arg < static_cast<std::size_t>(jit::arity(node.op)); ++arg) {
    std::vector<Places> longer;
    for (const Places& p : all)
      for (int place = -1; place <= p.different; ++place) {
        Places next = p;
        next.args[arg] = place;
        if (place == p.different) ++next.different;
        longer.push_back(next);
      }
    all = std::move(longer);
  }
  std::vector<Places> result;
  for (Places p : all) {
    if (p.different == 0 && node.op != LaneOp::bit_and) continue;
    for (p.d = 0; p.d <= p.different; ++p.d) result.push_back(p);
  }
  return result;
}

std::vector<LaneNode> all_nodes() {
  using enum LaneOp;
  using enum LaneType;
  std::vector<LaneNode> nodes;
  const auto put = [&](std::initializer_list<LaneOp> ops, std::initializer_list<LaneType> types,
                       std::initializer_list<std::uint64_t> immediates = {0}) {
    for (const LaneOp op : ops)
      for (const LaneType type : types)
        for (const std::uint64_t immediate : immediates) nodes.push_back({op, type, {-1, -1, -1}, immediate});
  };
  put({add, subtract, multiply, equal, less, select}, {f32, f64, i32, i64});
  put({bit_and, bit_or, bit_xor, bit_and_not}, {f32, f64, i32, i64});
  put({divide, lesser, greater, fma, fnma, sqrt, less_equal, unordered}, {f32, f64});
  put({round}, {f32, f64}, {0, 1, 2, 3});
  put({round_f16}, {f32});
  put({shift_left, shift_right, shift_right_arithmetic}, {i32, i64}, {0, 1, 13, 31});
  put({shift_left, shift_right, shift_right_arithmetic}, {i64}, {32, 63});
  put({shift_left_by, shift_right_by, shift_right_arithmetic_by}, {i32, i64});
  put({greatest_signed, greatest_unsigned, least_signed, least_unsigned}, {i32, i64});
  put({to_i32}, {f32, f64});
  put({to_f32, to_f64, extend_signed, extend_zero}, {i32});
  put({widen}, {f32});
  put({narrow}, {f64});
  put({low_half}, {i64});
  put({prefix_sum, last_lane, shift_in}, {f64, i32, i64});
  put({add, subtract, multiply, equal, less, select, bit_and, bit_or, bit_xor, bit_and_not}, {i16, i8});
  put({greatest_signed, greatest_unsigned, least_signed, least_unsigned}, {i16, i8});
  put({shift_left, shift_right, shift_right_arithmetic}, {i16}, {0, 1, 8, 15});
  return nodes;
}

bool is_narrow(LaneType type) { return lane_bytes(type) < 4; }

bool is_wide(const LaneNode& node) { return lane_bytes(node.type) == 8 || lane_bytes(jit::result_type(node)) == 8; }

/// How many a layer may have for it.
std::vector<int> lanes_of(const LaneNode& node) {
  if (is_narrow(node.type)) return {64 / lane_bytes(node.type)};
  return is_wide(node) ? std::vector<int>{8} : std::vector<int>{8, 16};
}

std::string describe(const LaneNode& node, const Words& words, std::uint64_t expected, std::uint64_t got) {
  std::ostringstream text;
  text << jit::LaneProgram{{node}, {}}.print() << std::hex;
  for (int arg = 0; arg < jit::arity(node.op); ++arg) text << "0x" << words[static_cast<std::size_t>(arg)] << ", ";
  text << "expected 0x" << expected << ", got 0x" << got;
  return text.str();
}

class LaneOperations : public LaneLayers {
 protected:
  /// One operation in one arrangement: `vecs` are the vectors that places number, and a last one in which a constant
  /// may be held.
  struct Arranged {
    LaneNode node;
    Places places;
    int lanes = 8;
    std::array<Vec, 4> vecs{};
    Words constants{};
    std::vector<LaneSource> held{};
  };

  Arranged arrange(const LaneNode& node, const Places& places, int lanes) {
    Arranged a{node, places, lanes, {}, {}, {}};
    for (std::size_t i = 0; i < a.vecs.size(); ++i) {
      do a.vecs[i] = draw_vector();
      while (std::find(a.vecs.begin(), a.vecs.begin() + static_cast<int>(i), a.vecs[i]) !=
             a.vecs.begin() + static_cast<int>(i));
    }
    for (int arg = 0; arg < 3; ++arg)
      a.constants[static_cast<std::size_t>(arg)] = draw(node.type, role(node, arg), random_);
    return a;
  }

  std::vector<std::uint8_t> code_of(const Arranged& a) {
    return emit(a.lanes, [&](jit::Assembler&, LaneLayer& layer) {
      std::array<LaneSource, 3> sources;
      const auto count = static_cast<std::size_t>(jit::arity(a.node.op));
      for (std::size_t i = 0; i < count; ++i) {
        const int place = a.places.args[i];
        if (place < 0)
          sources[i] = {-1, a.constants[i], lane_bytes(a.node.type)};
        else
          sources[i].vec = a.vecs[static_cast<std::size_t>(place)];
      }
      layer.hold(a.held, a.vecs.back());
      layer.operate(a.node, a.vecs[static_cast<std::size_t>(a.places.d)], {sources.data(), count});
    });
  }

  Block block_for(const Arranged& a) {
    Block block = random_block();
    const int bytes = lane_bytes(a.node.type);
    for (int place = 0; place < a.places.different; ++place) {
      Role wanted = Role::value;
      for (int arg = 0; arg < jit::arity(a.node.op); ++arg) {
        if (a.places.args[static_cast<std::size_t>(arg)] != place || wanted == Role::mask) continue;
        if (role(a.node, arg) != Role::value) wanted = role(a.node, arg);
      }
      for (int i = 0; i < a.lanes; ++i)
        block.set_lane(a.vecs[static_cast<std::size_t>(place)], i, bytes, draw(a.node.type, wanted, random_));
    }
    return block;
  }

  /// What is wrong, or nothing.
  std::string check(const Arranged& a, const Block& before, const Block& after) const {
    const Vec d = a.vecs[static_cast<std::size_t>(a.places.d)];
    Lanes lanes{};
    for (int i = 0; i < a.lanes; ++i)
      for (std::size_t arg = 0; arg < 3; ++arg) {
        const int place = a.places.args[arg];
        lanes[static_cast<std::size_t>(i)][arg] =
            place < 0 ? a.constants[arg]
                      : before.lane(a.vecs[static_cast<std::size_t>(place)], i, lane_bytes(a.node.type));
      }
    const Results expected = defined(a.node, lanes, a.lanes);
    for (int i = 0; i < a.lanes; ++i) {
      const std::uint64_t got = after.lane(d, i, lane_bytes(jit::result_type(a.node)));
      const auto lane = static_cast<std::size_t>(i);
      if (!same(a.node, expected[lane], got))
        return "lane " + std::to_string(i) + ": " + describe(a.node, lanes[lane], expected[lane], got);
    }
    for (Vec v = 0; v < vectors_; ++v)
      if (v != d && (a.held.empty() || v != a.vecs.back()) &&
          before.vectors[static_cast<std::size_t>(v)] != after.vectors[static_cast<std::size_t>(v)])
        return "vector " + std::to_string(v) + " has changed";
    return "";
  }

  std::string try_out(const Arranged& a) {
    const std::vector<std::uint8_t> code = code_of(a);
    for (std::int64_t round = scaled_cases(3); round-- > 0;) {
      const Block before = block_for(a);
      Block after = before;
      std::string wrong = run(code, after);
      if (wrong.empty()) wrong = check(a, before, after);
      if (wrong.empty()) continue;
      wrong += "\nof " + std::to_string(a.lanes) + " lanes, vectors and places:";
      for (std::size_t i = 0; i < 3; ++i)
        wrong += " " + std::to_string(a.places.args[i] < 0 ? -1 : a.vecs[static_cast<std::size_t>(a.places.args[i])]);
      return wrong + " into " + std::to_string(a.vecs[static_cast<std::size_t>(a.places.d)]);
    }
    return "";
  }
};

TEST_P(LaneOperations, AreAsDefined) {
  code_of(arrange({LaneOp::bit_and, LaneType::i32, {}, 0}, {}, 8));  // learns how many vectors there are
  std::int64_t arrangements = 0;
  for (const LaneNode& node : all_nodes())
    for (const int lanes : lanes_of(node)) {
      for (const Places& places : all_places(node)) {
        ++arrangements;
        const std::string wrong = try_out(arrange(node, places, lanes));
        if (wrong.empty()) continue;
        ADD_FAILURE() << wrong;
        break;
      }
    }
  std::printf("%lld arrangements\n", static_cast<long long>(arrangements));
}

/// Where arguments and results of what goes lane by lane stand in the scratch.
constexpr int kA = 64, kB = 192, kOther = 320;

TEST_P(LaneOperations, LaneByLane) {
  using enum LaneOp;
  using enum LaneType;
  const LaneNode nodes[] = {{divide_signed, i64, {}, 0},
                            {divide_signed, i32, {}, 0},
                            {divide_unsigned, i64, {}, 0},
                            {divide_unsigned, i32, {}, 0}};
  for (const LaneNode& node : nodes)
    for (const int lanes : {8, 16})
      for (const int d : {kA, kB, kOther}) {
        if (lanes == 16 && is_wide(node)) continue;
        const std::vector<std::uint8_t> code = emit(lanes, [&](jit::Assembler& assembler, LaneLayer&) {
          Xbyak::CodeGenerator& c = assembler.code();
          const Xbyak::Reg64 clobbered[] = {c.rax, c.rcx, c.rdx};
          for (int i = 0; i < 3; ++i) c.mov(clobbered[i], 1000 + i);
          const Memory rbp(c.rbp);
          jit::emit_lane_by_lane(assembler, node, lanes, rbp + d, rbp + kA, rbp + kB);
          for (int i = 0; i < 3; ++i)
            c.mov(c.ptr[c.rdi + static_cast<int>(offsetof(Block, gprs)) + 8 * i], clobbered[i]);
        });
        const int bytes = lane_bytes(node.type), result_bytes = lane_bytes(jit::result_type(node));
        for (int round = 0; round < 8; ++round) {
          Block expected = random_block();
          Lanes words{};
          for (int i = 0; i < lanes; ++i) {
            Words& w = words[static_cast<std::size_t>(i)];
            w[0] = draw(node.type, Role::value, random_);
            do w[1] = draw(node.type, Role::value, random_);
            while (w[1] == 0 || low_bits(~w[1], bytes) == 0);
            std::memcpy(expected.scratch.data() + kA + i * bytes, w.data(), static_cast<std::size_t>(bytes));
            std::memcpy(expected.scratch.data() + kB + i * bytes, w.data() + 1, static_cast<std::size_t>(bytes));
          }
          Block after = expected;
          ASSERT_EQ(run(code, after), "");
          const Results results = defined(node, words);
          for (int i = 0; i < lanes; ++i) {
            const std::uint64_t result = results[static_cast<std::size_t>(i)];
            std::memcpy(expected.scratch.data() + d + i * result_bytes, &result,
                        static_cast<std::size_t>(result_bytes));
          }
          ASSERT_EQ(expected.scratch, after.scratch) << jit::LaneProgram{{node}, {}}.print();
          ASSERT_EQ(expected.vectors, after.vectors) << jit::LaneProgram{{node}, {}}.print();
          ASSERT_EQ(after.gprs, (std::array<std::uint64_t, 3>{1000, 1001, 1002}));
        }
      }
}

/// Every power, in every arrangement of vectors and constants, with the table in memory and in a vector.
TEST_P(LaneOperations, PowersOfEighths) {
  for (const int scale : {32, 64}) {
    const LaneNode node{LaneOp::exp2_eighths, LaneType::f32, {}, static_cast<std::uint64_t>(scale)};
    const int least = (-120 - scale) * 8;
    for (const int lanes : {8, 16})
      for (const Places& places : all_places(node)) {
        if (places.args[0] >= 0 && places.args[0] == places.args[1]) continue;
        ASSERT_LT(places.d, 3);
        int k = least;
        const auto shifted = [&](int power) {
          return (random_() << 12 | (static_cast<unsigned>(power + 8 * scale) & 0xfff));
        };
        const auto eighths = [](int power) { return bits(static_cast<float>(power) / 8); };
        // A constant makes all lanes one power.
        const bool varies = places.args[0] >= 0 && places.args[1] >= 0;
        while (k <= 0) {
          Arranged a = arrange(node, places, lanes);
          a.constants = {low_bits(shifted(k), 4), eighths(k), 0};
          if (random_() % 2 == 0) a.held.push_back(LaneSource::roots(node.immediate));
          Block before = random_block();
          for (int i = 0; i < lanes; ++i, k += varies ? 1 : 0)
            for (std::size_t arg = 0; arg < 2; ++arg) {
              if (places.args[arg] < 0) continue;
              const int power = std::min(k, 0);
              before.set_lane(a.vecs[static_cast<std::size_t>(places.args[arg])], i, 4,
                              arg == 0 ? low_bits(shifted(power), 4) : eighths(power));
            }
          Block after = before;
          ASSERT_EQ(run(code_of(a), after), "");
          ASSERT_EQ(check(a, before, after), "") << "of " << lanes << " lanes, into " << places.d;
          if (!varies) k += 97;
        }
      }
  }
}

std::uint16_t rounded_to_bf16(std::uint64_t x) {
  if (is_nan(LaneType::f32, x)) return 0x7fc0;
  return static_cast<std::uint16_t>((x + 0x7fff + (x >> 16 & 1)) >> 16);
}

/// Whole vectors of ordinary numbers, and such that have a NaN, an infinity or a denormal in some place; with something
/// to round, and without.
TEST_P(LaneOperations, JoinTwoVectorsOfBf16) {
  constexpr int kJoined = 16;
  for (const LaneOrder order : {LaneOrder::straight, LaneOrder::even_first}) {
    for (int round = 0; round < 120; ++round) {
      const bool exact = round >= 60;
      bool joins = false;
      Vec a = 0, b = 0, d = 0;
      const std::vector<std::uint8_t> code = emit(
          kJoined,
          [&](jit::Assembler&, LaneLayer& layer) {
            layer.prepare(DType::bf16);
            joins = layer.joins();
            a = draw_vector(), b = draw_vector();
            const Vec places[] = {a, b, draw_vector()};
            d = places[round % 3];
            const LaneNode join{LaneOp::join_bf16, LaneType::f32, {}, exact ? jit::kExactJoin : 0};
            if (joins) layer.operate(join, d, {{LaneSource{a}, LaneSource{b}}});
          },
          order);
      ASSERT_EQ(joins, GetParam().isa == target::Isa::avx2 || GetParam().isa >= target::Isa::avx512_core_bf16);
      if (!joins) return;
      Block before = random_block();
      for (const Vec v : {a, b})
        for (int i = 0; i < kJoined; ++i)
          before.set_lane(v, i, 4, bits(static_cast<float>(static_cast<int>(random_() % 4001) - 2000) / 16));
      for (int specials = round / 3 % 4; specials > 0; --specials)
        before.set_lane(random_() % 2 == 0 ? a : b, static_cast<int>(random_() % kJoined), 4,
                        draw(LaneType::f32, Role::value, random_));
      for (const Vec v : {a, b})
        for (int i = 0; i < kJoined && exact; ++i) before.set_lane(v, i, 4, before.lane(v, i, 4) & 0xffff0000);
      Block after = before;
      ASSERT_EQ(run(code, after), "");
      for (int element = 0; element < 2 * kJoined; ++element) {
        const Vec from = element < kJoined ? a : b;
        ASSERT_EQ(after.lane(d, element, 2) & 0xffff,
                  rounded_to_bf16(before.lane(from, jit::lane_of(order, element % kJoined), 4)))
            << "element " << element << " of round " << round;
      }
      before.vectors[static_cast<std::size_t>(d)] = after.vectors[static_cast<std::size_t>(d)];
      ASSERT_EQ(before.vectors, after.vectors) << "other vectors have changed";
    }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Memory
// ---------------------------------------------------------------------------------------------------------------------

constexpr DType kDTypesOfLanes[] = {DType::f32, DType::f64, DType::bf16,   DType::f16, DType::s8,
                                    DType::u8,  DType::s16, DType::u16,    DType::s32, DType::u32,
                                    DType::s64, DType::u64, DType::boolean};

double half_to_real(std::uint64_t x) {
  const int exponent = static_cast<int>(x >> 10 & 31), fraction = static_cast<int>(x & 1023);
  const double magnitude = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                           : exponent == 0 ? std::ldexp(fraction, -24)
                                           : std::ldexp(1024 + fraction, exponent - 25);
  return x >> 15 != 0 ? -magnitude : magnitude;
}

std::uint64_t real_to_half(float x) {
  if (std::isnan(x)) return 0x7e00;
  const double magnitude = std::abs(static_cast<double>(x));
  const std::uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  if (magnitude >= 65520) return sign | 0x7c00;
  const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(magnitude);
  const auto fraction = static_cast<std::uint64_t>(std::nearbyint(std::ldexp(magnitude, 10 - exponent)));
  return sign | (static_cast<std::uint64_t>(exponent + 14) * 1024 + fraction);
}

std::uint64_t loaded(DType dtype, std::uint64_t x) {
  switch (dtype) {
    case DType::bf16: return x << 16;
    case DType::f16: return bits(static_cast<float>(half_to_real(x)));
    case DType::s8: return static_cast<std::uint32_t>(static_cast<std::int8_t>(x));
    case DType::s16: return static_cast<std::uint32_t>(static_cast<std::int16_t>(x));
    default: return x;
  }
}

std::uint64_t stored(DType dtype, std::uint64_t lane) {
  switch (dtype) {
    case DType::bf16: return (lane + 0x7fff + (lane >> 16 & 1)) >> 16;
    case DType::f16: return real_to_half(real<float>(lane));
    case DType::s8:
    case DType::u8:
    case DType::boolean: return lane & 0xff;
    case DType::s16:
    case DType::u16: return lane & 0xffff;
    default: return lane;
  }
}

/// In so many lanes.
LaneType type_of(DType dtype, int lanes) {
  if (lanes > 16) return byte_size(dtype) == 1 ? LaneType::i8 : LaneType::i16;
  if (dtype == DType::f64) return LaneType::f64;
  if (byte_size(dtype) == 8) return LaneType::i64;
  return is_floating(dtype) ? LaneType::f32 : LaneType::i32;
}

/// A way to read or write `elements` of a dtype.
struct Access {
  DType dtype;
  int lanes;
  int elements;  ///< 1 of a broadcast
  Part part;
  bool broadcast;
  LaneOrder order;
};

class LaneMemory : public LaneLayers {
 protected:
  std::vector<Access> accesses(bool loads) {
    std::vector<Access> all;
    for (const DType dtype : kDTypesOfLanes)
      for (const int lanes : {8, 16, 32, 64}) {
        if (lanes == 16 && byte_size(dtype) == 8) continue;
        if (lanes > 16 && (is_floating(dtype) || lanes * byte_size(dtype) != 64)) continue;
        for (const LaneOrder order : {LaneOrder::straight, LaneOrder::even_first}) {
          if (lanes != 16 && order == LaneOrder::even_first) continue;
          jit::Assembler assembler;
          const auto layer = LaneLayer::make(assembler, GetParam().isa, lanes, order);
          vectors_ = layer->vectors();
          layer->prepare(dtype);
          const bool tails = loads ? layer->loads_tails(dtype) : layer->stores_tails(dtype);
          all.push_back({dtype, lanes, lanes, Part::full, false, order});
          if (loads) all.push_back({dtype, lanes, 1, Part::full, true, order});
          for (int count = 1; count < lanes && tails; ++count)
            all.push_back({dtype, lanes, count, Part::tail, false, order});
        }
      }
    return all;
  }

  /// `act` on the layer and the buffer's address; with the tail prepared.
  template <class Act>
  std::vector<std::uint8_t> code_of(const Access& access, const Act& act) {
    return emit(
        access.lanes,
        [&](jit::Assembler& assembler, LaneLayer& layer) {
          Xbyak::CodeGenerator& c = assembler.code();
          const jit::Gpr buffer(assembler), index(assembler);
          c.mov(buffer, c.ptr[c.rdi + static_cast<int>(offsetof(Block, buffer))]);
          c.mov(index, c.ptr[c.rdi + static_cast<int>(offsetof(Block, count))]);
          if (access.part == Part::tail || random_() % 2 == 0) layer.prepare(access.dtype);
          if (access.part == Part::tail) {
            layer.prepare_tail(index);
            act(layer, Memory(buffer.reg()));
          } else {
            act(layer, Memory(buffer.reg()) + index.reg() * 2 + -2 * access.elements);
          }
        },
        access.order);
  }

  std::uint64_t element(const GuardedBuffer& buffer, int i, int bytes) const {
    std::uint64_t x = 0;
    std::memcpy(&x, buffer.data() + i * bytes, static_cast<std::size_t>(bytes));
    return x;
  }

  static std::string describe(const Access& a, GuardedBuffer::Guard guard) {
    return std::string(to_string(a.dtype)) + ", " + std::to_string(a.elements) + " of " + std::to_string(a.lanes) +
           (a.broadcast ? ", to all" : "") + (a.order == LaneOrder::even_first ? ", even first" : "") +
           (guard == GuardedBuffer::Guard::after ? ", guarded after" : ", before");
  }
};

TEST_P(LaneMemory, LoadsAndBroadcasts) {
  for (const Access& a : accesses(true)) {
    const Vec d = draw_vector();
    const std::vector<std::uint8_t> code = code_of(a, [&](LaneLayer& layer, const Memory& from) {
      a.broadcast ? layer.broadcast(d, a.dtype, from) : layer.load(d, a.dtype, from, a.part);
    });
    const int bytes = byte_size(a.dtype), result_bytes = lane_bytes(type_of(a.dtype, a.lanes));
    for (const auto guard : {GuardedBuffer::Guard::after, GuardedBuffer::Guard::before})
      for (int round = 0; round < 4; ++round) {
        const GuardedBuffer buffer(static_cast<std::size_t>(a.elements * bytes), guard);
        for (std::size_t i = 0; i < buffer.size(); ++i)
          buffer.data()[i] = static_cast<std::byte>(random_() & (a.dtype == DType::boolean ? 1 : 0xff));
        const Block before = random_block();
        Block after = before;
        after.buffer = reinterpret_cast<std::uint8_t*>(buffer.data());
        after.count = static_cast<std::uint64_t>(a.elements);
        ASSERT_EQ(run(code, after, buffer.size()), "") << describe(a, guard);
        for (int i = 0; i < a.lanes; ++i) {
          const int place = a.broadcast ? 0 : jit::element_of(a.order, i);
          const bool there = place < a.elements;
          const std::uint64_t raw = element(buffer, std::min(place, a.elements - 1), bytes);
          const std::uint64_t widened = a.lanes > 16 ? raw : loaded(a.dtype, raw);
          const std::uint64_t expected = there ? widened : 0, got = after.lane(d, i, result_bytes);
          ASSERT_TRUE(expected == got ||
                      (a.dtype == DType::f16 && is_nan(LaneType::f32, expected) && is_nan(LaneType::f32, got)))
              << describe(a, guard) << ": lane " << i << std::hex << " of 0x" << raw << " is 0x" << got;
        }
        for (Vec v = 0; v < vectors_; ++v)
          ASSERT_TRUE(v == d ||
                      before.vectors[static_cast<std::size_t>(v)] == after.vectors[static_cast<std::size_t>(v)])
              << describe(a, guard) << ": vector " << v << " has changed";
      }
  }
}

TEST_P(LaneMemory, Stores) {
  for (const Access& a : accesses(false)) {
    const Vec s = draw_vector();
    const Vec lent = random_() % 2 == 0 ? -1 : (s + 1) % vectors_;
    const std::vector<std::uint8_t> code = code_of(a, [&](LaneLayer& layer, const Memory& to) {
      layer.lend(lent);
      layer.store(to, a.dtype, s, a.part);
    });
    const int bytes = byte_size(a.dtype);
    const LaneType type = type_of(a.dtype, a.lanes);
    for (const auto guard : {GuardedBuffer::Guard::after, GuardedBuffer::Guard::before})
      for (int round = 0; round < 4; ++round) {
        const GuardedBuffer buffer(static_cast<std::size_t>(a.elements * bytes), guard);
        Block before = random_block();
        for (int i = 0; i < a.lanes; ++i) {
          std::uint64_t x = draw(type, Role::value, random_);
          if (is_nan(type, x)) x = type == LaneType::f32 ? 0x7fc00000 : 0x7ff8000000000000;
          before.set_lane(s, i, lane_bytes(type), x);
        }
        Block after = before;
        after.buffer = reinterpret_cast<std::uint8_t*>(buffer.data());
        after.count = static_cast<std::uint64_t>(a.elements);
        ASSERT_EQ(run(code, after, buffer.size()), "") << describe(a, guard);
        for (int i = 0; i < a.elements; ++i) {
          const std::uint64_t lane = before.lane(s, jit::lane_of(a.order, i), lane_bytes(type));
          ASSERT_EQ(element(buffer, i, bytes), stored(a.dtype, lane))
              << describe(a, guard) << std::hex << " of 0x" << lane;
        }
        ASSERT_TRUE(buffer.canary_intact()) << describe(a, guard);
        if (lent >= 0) after.vectors[static_cast<std::size_t>(lent)] = before.vectors[static_cast<std::size_t>(lent)];
        ASSERT_EQ(before.vectors, after.vectors) << describe(a, guard) << ": a vector has changed";
      }
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// Programs
// ---------------------------------------------------------------------------------------------------------------------

/// A program grown node by node, of lanes of the types given. Reals never become their own bits, for which NaN they are
/// is left open.
class Grower {
 public:
  Grower(Random& random, std::vector<LaneType> types) : random_(random), types_(std::move(types)) {
    const auto has = [this](LaneType type) { return std::find(types_.begin(), types_.end(), type) != types_.end(); };
    for (const LaneNode& node : all_nodes())
      if (has(node.type) && has(jit::result_type(node)) &&
          !(jit::is_real(node.type) && node.op >= LaneOp::bit_and && node.op < LaneOp::equal))
        choices_.push_back(node);
  }

  jit::LaneProgram grow(std::size_t nodes, std::size_t inputs) {
    for (std::size_t i = 0; i < inputs; ++i) add({LaneOp::input, types_[random_() % types_.size()], {-1, -1, -1}, i});
    while (program_.nodes.size() < nodes) {
      LaneNode node = choices_[random_() % choices_.size()];
      for (int arg = 0; arg < jit::arity(node.op); ++arg) node.args[static_cast<std::size_t>(arg)] = pick(node, arg);
      add(node);
    }
    for (int result = 0; result < 3; ++result)
      program_.results.push_back(static_cast<int>(nodes - 1 - random_() % (result == 0 ? 1 : nodes)));
    return program_;
  }

 private:
  int add(const LaneNode& node) {
    program_.nodes.push_back(node);
    return static_cast<int>(program_.nodes.size()) - 1;
  }

  bool is_mask(const LaneNode& node) const {
    return (node.op >= LaneOp::equal && node.op <= LaneOp::unordered) || node.op == LaneOp::shift_left;
  }

  /// An earlier node that may be this argument, or a new constant.
  int pick(const LaneNode& node, int arg) {
    const Role wanted = role(node, arg);
    std::vector<int> found;
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const LaneNode& made = program_.nodes[i];
      const LaneType type = jit::result_type(made);
      const bool fits =
          wanted == Role::mask ? is_mask(made) && lane_bytes(type) == lane_bytes(node.type) : type == node.type;
      if (fits) found.push_back(static_cast<int>(i));
    }
    if (!found.empty() && random_() % 5 != 0) return found[random_() % found.size()];
    const LaneType type = wanted == Role::mask ? jit::integer_of(node.type) : node.type;
    return add({LaneOp::constant, type, {-1, -1, -1}, draw(type, wanted, random_)});
  }

  Random& random_;
  std::vector<LaneType> types_;
  std::vector<LaneNode> choices_;
  jit::LaneProgram program_;
};

class LanePrograms : public LaneLayers {
 protected:
  static constexpr int kResults = 16, kSpill = 1024;  ///< results' vectors in the block; places in the scratch
  static constexpr int kOwnPlaces = 2;                ///< of operations that go lane by lane

  /// The program has the first `free` vectors.
  std::vector<std::uint8_t> code_of(const jit::LaneProgram& program, int free) {
    jit::Assembler assembler;
    Xbyak::CodeGenerator& c = assembler.code();
    const auto layer = LaneLayer::make(assembler, GetParam().isa, program.lanes());
    assembler.prologue();
    c.lea(c.rbp, c.ptr[c.rdi + kScratch]);
    const jit::LaneOperands operands{
        .load = [&](int input, Vec d) { layer->reload(d, Memory(c.rdi) + 64 * input); },
        .store = [&](int result, Vec s) { layer->spill(Memory(c.rdi) + 64 * (kResults + result), s); },
        .free = free};
    const std::int64_t used = jit::emit_lanes(assembler, *layer, program, Memory(c.rbp) + kSpill, operands);
    EXPECT_LE(kSpill + used, static_cast<std::int64_t>(sizeof(Block::scratch)));
    if (free == jit::vectors_needed(program, nowhere(program))) {
      EXPECT_EQ(used, kOwnPlaces * 64) << "something has left";
    }
    c.vzeroupper();
    assembler.epilogue();
    Result<std::vector<std::uint8_t>> code = assembler.finish();
    EXPECT_TRUE(code.ok()) << code.status().message();
    return code.ok() ? code.value() : std::vector<std::uint8_t>{0xc3};
  }

  static std::vector<bool> nowhere(const jit::LaneProgram& program) { return std::vector<bool>(program.nodes.size()); }

  /// With all vectors there are, with so many that nothing leaves them, and with the fewest.
  void check(const jit::LaneProgram& program, std::size_t inputs) {
    jit::Assembler assembler;
    const int all = LaneLayer::make(assembler, GetParam().isa, program.lanes())->vectors();
    const int needed = jit::vectors_needed(program, nowhere(program));
    for (const int free : {all, std::min(all, needed), jit::fewest_vectors(program, nowhere(program))}) {
      check(program, inputs, free);
      if (HasFatalFailure()) return;
    }
  }

  void check(const jit::LaneProgram& program, std::size_t inputs, int free) {
    SCOPED_TRACE(std::to_string(free) + " vectors");
    Block block = random_block();
    const auto lanes = static_cast<std::size_t>(program.lanes());
    for (std::size_t input = 0; input < inputs; ++input)
      for (std::size_t i = 0; i < lanes; ++i) {
        const LaneType type = program.nodes[input].type;
        block.set_lane(static_cast<Vec>(input), static_cast<int>(i), lane_bytes(type),
                       draw(type, Role::value, random_));
      }
    Block expected = block;
    std::vector<const void*> from;
    std::vector<void*> to;
    for (std::size_t input = 0; input < inputs; ++input) from.push_back(block.vectors[input].data());
    for (std::size_t r = 0; r < program.results.size(); ++r) to.push_back(expected.vectors[kResults + r].data());
    jit::interpret(program, lanes, from, to, lanes);
    ASSERT_EQ(run(code_of(program, free), block), "") << program.print();
    for (std::size_t r = 0; r < program.results.size(); ++r) {
      const LaneType type = jit::result_type(program.nodes[static_cast<std::size_t>(program.results[r])]);
      for (int i = 0; i < static_cast<int>(lanes); ++i) {
        const Vec at = kResults + static_cast<Vec>(r);
        const std::uint64_t wanted = expected.lane(at, i, lane_bytes(type)), got = block.lane(at, i, lane_bytes(type));
        ASSERT_TRUE(wanted == got || (is_nan(type, wanted) && is_nan(type, got)))
            << program.print() << "result " << r << " lane " << i << std::hex << ": 0x" << got << ", not 0x" << wanted;
      }
    }
  }
};

TEST_P(LanePrograms, AtRandom) {
  for (std::int64_t left = scaled_cases(200); left-- > 0 && !HasFatalFailure();) {
    const std::size_t inputs = 1 + random_() % 8, nodes = inputs + 1 + random_() % (left % 4 == 0 ? 120 : 20);
    using enum LaneType;
    const std::vector<LaneType> types[] = {{f32, i32}, {f32, i32, f64, i64}, {i16}, {i8}};
    Grower grower(random_, types[random_() % std::size(types)]);
    check(grower.grow(nodes, inputs), inputs);
  }
}

TEST_P(LanePrograms, MoreComparisonsAtOnceThanMasks) {
  constexpr int kInputs = 8;
  jit::LaneBuilder builder;
  std::vector<jit::Lane> x, masks;
  for (int i = 0; i < kInputs; ++i) x.push_back(builder.input(i, LaneType::f32));
  const auto beside = [&](std::size_t i, std::size_t by) { return x[(i + by) % kInputs]; };
  for (std::size_t i = 0; i < kInputs; ++i)
    masks.push_back(i % 2 == 0 ? x[i] < beside(i, 1)
                               : jit::shift_left(jit::as(LaneType::i32, x[i]), 3 * static_cast<int>(i)));
  for (std::size_t i = 0; i < kInputs; ++i) builder.result(jit::select(masks[i], x[i], beside(i, 3)));
  builder.result(jit::select(masks[0], x[1], x[2]));
  builder.result(masks[1] & masks[7]);  // not for selections alone
  check(builder.finish(), kInputs);
}

std::vector<Subject> subjects() {
  using target::Isa;
  std::vector<Subject> all;
  for (const Isa isa : {Isa::avx2, Isa::avx512_core, Isa::avx512_core_bf16})
    for (const bool emulated : {false, true}) all.push_back({isa, emulated});
  return all;
}
std::string subject_name(const ::testing::TestParamInfo<Subject>& subject) {
  return std::string(target::to_string(subject.param.isa)) + (subject.param.emulated ? "_emulated" : "");
}
INSTANTIATE_TEST_SUITE_P(Layers, LaneOperations, ::testing::ValuesIn(subjects()), subject_name);
INSTANTIATE_TEST_SUITE_P(Layers, LaneMemory, ::testing::ValuesIn(subjects()), subject_name);
INSTANTIATE_TEST_SUITE_P(Layers, LanePrograms, ::testing::ValuesIn(subjects()), subject_name);

}  // namespace
}  // namespace tenfold::numeric
