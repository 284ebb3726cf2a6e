// SPDX-License-Identifier: Apache-2.0
#include "jit/stage/reductions.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "jit/stage/nan_flow.hpp"
#include "jit/stage/numbered.hpp"
#include "jit/stage/ranked.hpp"
#include "jit/vector/integer_monoid.hpp"
#include "schedule/arg_body.hpp"

namespace tenfold::jit {
namespace {

using kernel::Function;
using kernel::KernelSpec;
using kernel::Monoid;
using kernel::Node;

/// The start value in lanes of `type`, of elements of `dtype`.
std::uint64_t identity_bits(Monoid monoid, DType dtype, LaneType type) {
  const double identity = kernel::row(monoid).identity;
  if (type == LaneType::f32) return std::bit_cast<std::uint32_t>(static_cast<float>(identity));
  if (type == LaneType::f64) return std::bit_cast<std::uint64_t>(identity);
  const std::uint64_t own = integer_identity(monoid, dtype), sign = std::uint64_t{1} << (8 * byte_size(dtype) - 1);
  const bool is_signed = row(dtype).kind == DTypeKind::signed_integer;
  const std::uint64_t pattern = is_signed ? (own ^ sign) - sign : own;
  return type == LaneType::i32 ? pattern & 0xffffffffU : pattern;
}

constexpr std::uint64_t kNegativeInfinity = 0xff800000;

class ReductionFinder {
 public:
  ReductionFinder(const KernelSpec& spec, const std::vector<Position>& positions, const ReductionForms& forms)
      : spec_(spec), positions_(positions), forms_(forms) {}

  Result<FoundReductions> run() {
    found_.of_node.assign(spec_.body.size(), -1);
    std::vector<int> indices;  // after all others, as they go by what these see
    for (std::size_t i = 0; i < spec_.body.size(); ++i) {
      const Node& node = spec_.body[i];
      const int index = static_cast<int>(i);
      if (forms_.along_rows && (node.kind == Node::Kind::rank || (node.kind == Node::Kind::scan && node.reverse)))
        return Status(Code::unsupported_op, "along rows there are but sums so far, from the first element on");
      if (node.kind == Node::Kind::scan) add_running(index);
      if (node.kind == Node::Kind::rank) add_ranked(index);
      if (node.kind != Node::Kind::reduce) continue;
      if (schedule::is_arg_reduction(node)) {
        indices.push_back(index);
        continue;
      }
      if (find_extremes(index) || find_moment(index) || find_powers(index)) continue;
      found_.of_node[i] = static_cast<int>(found_.reductions.size());
      found_.reductions.push_back(reduction(index));
      add_exact(found_.of_node[i], index);
    }
    for (const int index : indices) {
      if (const char* why = why_no_index(index)) return Status(Code::unsupported_op, why);
      find_index(index);
    }
    return std::move(found_);
  }

 private:
  StageReduction reduction(int index) const {
    const Node& node = kernel::node(spec_, index);
    StageReduction r;
    r.monoid = node.monoid;
    r.element = node.args[0];
    r.dtype = kernel::dtype_of(spec_, r.element);
    r.pass = positions_[static_cast<std::size_t>(index)].pass - 1;
    if (node.monoid == Monoid::max && is_floating(r.dtype)) {
      r.form = only_shifts_exponents(spec_, index) || only_shifts_where_finite(spec_, index) ? StageForm::plain
               : has_clear_sign(r.element)                                                   ? StageForm::bits
                                                                                             : StageForm::negated;
      // A minimum takes fewer operations than a maximum.
      if (r.form == StageForm::negated) r.monoid = Monoid::min;
    }
    if (r.form == StageForm::bits) r.dtype = DType::s32;
    r.set_type = r.total_type = lane_type(r.dtype);
    const bool chained = kernel::row(node.monoid).state == kernel::State::chained;
    if (chained && r.set_type == LaneType::f32) r.total_type = LaneType::f64;
    r.set_identity = identity_bits(r.monoid, r.dtype, r.set_type);
    r.total_identity = identity_bits(r.monoid, r.dtype, r.total_type);
    // Less than all bits without a sign, and the max of no elements.
    if (r.form == StageForm::bits) r.set_identity = r.total_identity = kNegativeInfinity;
    return r;
  }

  void add_running(int index) {
    StageReduction r;
    r.form = StageForm::running;
    r.element = kernel::node(spec_, index).args[0];
    r.dtype = kernel::dtype_of(spec_, r.element);
    r.pass = positions_[static_cast<std::size_t>(index)].pass;
    r.set_type = r.total_type = lane_type(r.dtype);
    r.reverse = kernel::node(spec_, index).reverse;
    r.in_lanes = forms_.along_rows;
    found_.of_node[static_cast<std::size_t>(index)] = static_cast<int>(found_.reductions.size());
    found_.reductions.push_back(r);
  }

  /// The lists of all places that are asked for of the elements; one kernel has those of one direction.
  void add_ranked(int index) {
    const Node& node = kernel::node(spec_, index);
    const auto known = std::ranges::find_if(found_.reductions, [&](const StageReduction& r) {
      return r.form == StageForm::ranked && r.element == node.args[0];
    });
    found_.of_node[static_cast<std::size_t>(index)] = static_cast<int>(known - found_.reductions.begin());
    if (known != found_.reductions.end()) return;
    int places = 0, index_node = -1;
    for (const Node& other : spec_.body)
      if (other.kind == Node::Kind::rank && other.args[0] == node.args[0]) {
        places = std::max(places, other.index + 1);
        if (other.args.size() > 1) index_node = other.args[1];
      }
    StageReduction r;
    r.index = index_node;
    r.monoid = node.monoid;
    r.element = node.args[0];
    r.dtype = kernel::dtype_of(spec_, r.element);
    r.pass = positions_[static_cast<std::size_t>(index)].pass - 1;
    r.set_type = r.total_type = integer_of(lane_type(r.dtype));
    r.places = places;
    for (int place = 0; place < places; ++place) {
      r.form = StageForm::ranked;
      r.set_identity = r.total_identity = least_compared(r.set_type);
      found_.reductions.push_back(r);
      r.places = 0;
      r.form = StageForm::ranked_number;
      r.set_identity = r.total_identity = first_ranked_number(r.dtype);
      found_.reductions.push_back(r);
    }
  }

  const char* why_no_index(int index) const {
    if (kernel::reduced_levels(spec_) != 1) return "an arg-reduction along several levels beside other ops";
    if (kernel::reduced_count(spec_) > std::numeric_limits<std::int32_t>::max())
      return "an arg-reduction over more than 2^31 - 1 elements";
    const LaneType type = lane_type(kernel::dtype_of(spec_, kernel::node(spec_, index).args[0]));
    return forms_.along_rows && lane_bytes(type) == 8 ? "an arg-reduction of 64 bits along rows, beside other ops"
                                                      : nullptr;
  }

  /// The extreme and its number, one after the other. Along rows lanes are folded, for which both are joined.
  void find_index(int index) {
    const LaneType type = lane_type(kernel::dtype_of(spec_, kernel::node(spec_, index).args[0]));
    found_.of_node[static_cast<std::size_t>(index)] = static_cast<int>(found_.reductions.size());
    const int extreme = add_of_index(index, StageForm::extreme, type, least_compared(type));
    const int number = add_of_index(index, StageForm::number, integer_of(type), 0);
    at(extreme).number = number;
    if (!is_real(type)) return;
    const int shown = shows_nan(index);
    const int doubt = shown >= 0 ? shown : add_of_index(index, StageForm::doubt, type, 0);
    at(extreme).doubt = at(number).doubt = doubt;
    at(at(extreme).exact).number = at(number).exact;
  }

  /// A reduction of the same elements that is NaN where one of them is, and as a sum seldom else; -1: there is none.
  int shows_nan(int index) const {
    const int element = kernel::node(spec_, index).args[0];
    for (std::size_t r = 0; r < found_.reductions.size(); ++r) {
      const StageReduction& other = found_.reductions[r];
      const bool sums =
          other.monoid == Monoid::sum && (other.form == StageForm::value || other.form == StageForm::doubt);
      const bool orders =
          (other.monoid == Monoid::min && other.form == StageForm::value) || other.form == StageForm::negated;
      if (other.element == element && !other.again && (sums || orders)) return static_cast<int>(r);
    }
    return -1;
  }

  /// With the one that a second look makes of it, if it needs one.
  int add_of_index(int index, StageForm form, LaneType type, std::uint64_t identity) {
    const Node& node = kernel::node(spec_, index);
    const bool joins = forms_.along_rows && form != StageForm::doubt;
    const int added = static_cast<int>(found_.reductions.size());
    StageReduction r;
    r.monoid = form == StageForm::doubt ? Monoid::sum : node.monoid;
    r.form = form;
    r.last = node.last;
    r.element = node.args[0];
    r.dtype = kernel::dtype_of(spec_, r.element);
    r.pass = positions_[static_cast<std::size_t>(index)].pass - 1;
    r.set_type = type;
    r.set_identity = identity;
    r.total_type = joins ? LaneType::i64 : type;
    r.total_identity = joins ? least_compared(LaneType::i64) : identity;
    found_.reductions.push_back(r);
    if (form == StageForm::doubt || !is_real(lane_type(r.dtype))) return added;
    at(added).exact = added + 1;
    r.again = true;
    found_.reductions.push_back(std::move(r));
    return added;
  }

  StageReduction& at(int reduction) { return found_.reductions[static_cast<std::size_t>(reduction)]; }

  /// What a second look makes of node `index`, if its reduction may need one.
  void add_exact(int plain, int index) {
    StageReduction& of = found_.reductions[static_cast<std::size_t>(plain)];
    if (of.form != StageForm::plain || only_shifts_exponents(spec_, index)) return;
    StageReduction exact = of;
    exact.form = StageForm::value;
    exact.again = true;
    of.exact = static_cast<int>(found_.reductions.size());
    found_.reductions.push_back(exact);
  }

  /// A centred moment, and where it gives that too, the sum of the same elements.
  bool find_moment(int index) {
    const int sum = forms_.sums[static_cast<std::size_t>(index)], next = static_cast<int>(found_.reductions.size());
    const bool is_sum = sum < 0 && (forms_.in_one_pass || kernel::node(spec_, index).centred) &&
                        std::find(forms_.sums.begin(), forms_.sums.end(), index) != forms_.sums.end();
    if (sum < 0 && !is_sum) return false;
    const int known = is_sum ? -1 : found_.of_node[static_cast<std::size_t>(sum)];
    const bool made = known >= 0 && found_.reductions[static_cast<std::size_t>(known)].form == StageForm::deviations;
    if (!made) add_centred_moment(is_sum ? index : sum, known);
    found_.of_node[static_cast<std::size_t>(index)] =
        (made ? known : next) + (is_sum ? CentredMoment::kDeviations : CentredMoment::kSquares);
    return true;
  }

  /// A sum of e^(x - max) in the pass of the max: of e^x, and, by a second look, as it is.
  bool find_powers(int index) {
    const int max = forms_.maxima[static_cast<std::size_t>(index)];
    if (max < 0) return false;
    found_.of_node[static_cast<std::size_t>(index)] = static_cast<int>(found_.reductions.size());
    StageReduction r = reduction(index);
    r.max = max;
    StageReduction exact = r;
    r.form = StageForm::powers;
    r.element = kernel::node(spec_, max).args[0];
    r.exact = static_cast<int>(found_.reductions.size()) + 1;
    exact.again = true;
    found_.reductions.push_back(std::move(r));
    found_.reductions.push_back(std::move(exact));
    return true;
  }

  /// Of the elements that the node `sum` sums, as the reduction `known` does; -1: there is none.
  void add_centred_moment(int sum, int known) {
    StageReduction r = reduction(sum);
    r.sum = known;
    for (const StageForm form : {StageForm::deviations, StageForm::squares}) {
      r.form = form;
      found_.reductions.push_back(r);
    }
    if (known >= 0) return;
    found_.reductions.back().exact = static_cast<int>(found_.reductions.size());
    r.form = StageForm::remainders;
    r.again = true;
    r.total_type = LaneType::f32;
    r.total_identity = r.set_identity;
    found_.reductions.push_back(r);
  }

  /// Absolute values, of f32 lanes: NaNs without a sign are above infinity, and there is but one zero.
  bool has_clear_sign(int index) const {
    const Node& node = kernel::node(spec_, index);
    return node.kind == Node::Kind::apply && node.function == Function::abs && is_f32(index);
  }

  bool is_f32(int index) const { return lane_type(kernel::dtype_of(spec_, index)) == LaneType::f32; }

  int pass_of(int index) const { return positions_[static_cast<std::size_t>(index)].pass; }

  /// Whether one other reduction shares its pass, and takes one set.
  bool is_beside_one(int index) const {
    int others = 0;
    bool takes_one = true;
    for (std::size_t i = 0; i < spec_.body.size(); ++i) {
      const Node& node = spec_.body[i];
      const int other = static_cast<int>(i);
      if (other == index || node.kind != Node::Kind::reduce || pass_of(other) != pass_of(index)) continue;
      ++others;
      takes_one = takes_one && kernel::row(node.monoid).state == kernel::State::chained;
    }
    return others == 1 && takes_one;
  }

  /// Where max and min of the same reals are both asked for, three reductions of bits do for the two. They do for one
  /// of them beside a sum or a product, with which vectors have room for one set of each: a step then waits for one
  /// operation of the step before, and for three in the other form.
  bool find_extremes(int index) {
    const Node& node = kernel::node(spec_, index);
    if (!is_f32(node.args[0]) || (node.monoid != Monoid::max && node.monoid != Monoid::min)) return false;
    const Monoid other = node.monoid == Monoid::max ? Monoid::min : Monoid::max;
    int twin = -1;
    for (std::size_t i = 0; i < spec_.body.size(); ++i)
      if (const Node& at = spec_.body[i];
          at.kind == Node::Kind::reduce && at.monoid == other && at.args[0] == node.args[0])
        twin = static_cast<int>(i);
    if (twin < 0 && (!forms_.along_rows || !is_beside_one(index) || has_clear_sign(node.args[0]))) return false;
    const int max = node.monoid == Monoid::max ? index : twin;
    if (max >= 0 && (only_shifts_exponents(spec_, max) || (twin < 0 && only_shifts_where_finite(spec_, max))))
      return false;
    const int known = twin < 0 ? -1 : found_.of_node[static_cast<std::size_t>(twin)];
    const bool made = known >= 0 && found_.reductions[static_cast<std::size_t>(known)].one_of_three;
    found_.of_node[static_cast<std::size_t>(index)] = made ? known : static_cast<int>(found_.reductions.size());
    if (made) return true;
    for (const auto& [monoid, dtype] :
         {std::pair{Monoid::max, DType::s32}, {Monoid::max, DType::u32}, {Monoid::min, DType::u32}}) {
      StageReduction r;
      r.monoid = monoid;
      r.form = StageForm::bits;
      r.one_of_three = true;
      r.element = node.args[0];
      r.dtype = dtype;
      r.set_type = r.total_type = LaneType::i32;
      r.set_identity = r.total_identity = identity_bits(monoid, dtype, LaneType::i32);
      r.pass = positions_[static_cast<std::size_t>(index)].pass - 1;
      found_.reductions.push_back(std::move(r));
    }
    return true;
  }

  const KernelSpec& spec_;
  const std::vector<Position>& positions_;
  const ReductionForms& forms_;
  FoundReductions found_;
};

}  // namespace

Result<FoundReductions> find_reductions(const KernelSpec& spec, const std::vector<Position>& positions,
                                        const ReductionForms& forms) {
  return ReductionFinder(spec, positions, forms).run();
}

}  // namespace tenfold::jit
