// SPDX-License-Identifier: Apache-2.0
//
// The loops of plain_loops.hpp, as templates over op and dtype. The two innermost levels are written out, once for rows
// (the innermost level is reduced) and once for columns (it is kept); what is further out is an odometer. Everything is
// local to the file that includes this one, as each is compiled with other options.
#pragma once

#include "tools/bench/plain_loops.hpp"

namespace tenfold::tools::bench {
namespace {

struct Bf16 {
  unsigned short bits;
};

template <class T>
struct Running {
  using Type = T;
};
template <>
struct Running<Bf16> {
  using Type = float;
};
template <>
struct Running<_Float16> {
  using Type = float;
};

/// Of what ends in a root or a logarithm: sums of integers wrap at 64 bits only.
template <class T, bool kInteger = (typename Running<T>::Type(0.5) == typename Running<T>::Type(0))>
struct RunningToTheEnd : Running<T> {};
template <class T>
struct RunningToTheEnd<T, true> {
  using Type = long;
};

template <class T>
inline typename Running<T>::Type widen(T x) {
  return static_cast<typename Running<T>::Type>(x);
}
inline float widen(Bf16 x) {
  const unsigned word = static_cast<unsigned>(x.bits) << 16;
  return __builtin_bit_cast(float, word);
}

template <class T, class R>
inline T narrow(R x) {
  if constexpr (__is_same(T, Bf16)) {
    const unsigned word = __builtin_bit_cast(unsigned, static_cast<float>(x));
    return Bf16{static_cast<unsigned short>((word + 0x7fff + (word >> 16 & 1)) >> 16)};
  } else {
    return static_cast<T>(x);
  }
}

/// Finite ones: -ffast-math knows no others.
template <class R>
constexpr R greatest() {
  if constexpr (__is_same(R, float)) {
    return __FLT_MAX__;
  } else if constexpr (__is_same(R, double)) {
    return __DBL_MAX__;
  } else {
    constexpr bool kSigned = R(-1) < R(0);
    return static_cast<R>(~0UL >> (64 - 8 * sizeof(R) + (kSigned ? 1 : 0)));
  }
}
template <class R>
constexpr R lowest() {
  if constexpr (R(0.5) != R(0)) {
    return -greatest<R>();
  } else {
    return static_cast<R>(~greatest<R>());
  }
}

/// What an op starts from, how it takes an element, how it ends. `shift` is of ReduceLogSumExp alone.
template <class R>
struct Max {
  static R start() { return lowest<R>(); }
  static R step(R a, R x, R) { return x > a ? x : a; }
  static R finish(R a, R, long) { return a; }
};
template <class R>
struct Min {
  static R start() { return greatest<R>(); }
  static R step(R a, R x, R) { return x < a ? x : a; }
  static R finish(R a, R, long) { return a; }
};
template <class R>
struct Sum {
  static R start() { return R(0); }
  static R step(R a, R x, R) { return static_cast<R>(a + x); }
  static R finish(R a, R, long) { return a; }
};
template <class R>
struct Mean : Sum<R> {
  static R finish(R a, R, long count) {
    // A count of elements need not fit a narrow integer.
    if constexpr (R(0.5) != R(0)) {
      return a / static_cast<R>(count);
    } else {
      return static_cast<R>(static_cast<long>(a) / count);
    }
  }
};
template <class R>
struct Prod {
  static R start() { return R(1); }
  static R step(R a, R x, R) { return static_cast<R>(a * x); }
  static R finish(R a, R, long) { return a; }
};
template <class R>
struct L1 : Sum<R> {
  static R step(R a, R x, R) { return static_cast<R>(a + (x < R(0) ? static_cast<R>(-x) : x)); }
};
template <class R>
struct SumSquare : Sum<R> {
  static R step(R a, R x, R) { return static_cast<R>(a + x * x); }
};
template <class R>
struct L2 : SumSquare<R> {
  static R finish(R a, R, long) { return static_cast<R>(__builtin_sqrt(static_cast<double>(a))); }
};
template <class R>
struct LogSum : Sum<R> {
  static R finish(R a, R, long) { return static_cast<R>(__builtin_log(static_cast<double>(a))); }
};
template <class R>
struct ExpSum : Sum<R> {
  static R exponential(R x) {
    if constexpr (sizeof(R) == 8) {
      return __builtin_exp(x);
    } else {
      return __builtin_expf(x);
    }
  }
  static R step(R a, R x, R shift) { return static_cast<R>(a + exponential(static_cast<R>(x - shift))); }
  static R finish(R a, R shift, long) {
    return static_cast<R>(__builtin_log(static_cast<double>(a)) + static_cast<double>(shift));
  }
};

/// Calls body(input offset, output offset, reduced index) for each position of the levels outside the last two.
template <class Body>
void odometer(const PlainNest& nest, Body&& body) {
  const int outer = nest.levels - 2;
  long at[kMostPlainLevels] = {};
  long in = 0, out = 0, index = 0;
  for (;;) {
    body(in, out, index);
    int level = outer - 1;
    for (; level >= 0; --level) {
      in += nest.in_stride[level];
      out += nest.out_stride[level];
      if (nest.reduced[level]) ++index;
      if (++at[level] < nest.extent[level]) break;
      in -= at[level] * nest.in_stride[level];
      out -= at[level] * nest.out_stride[level];
      if (nest.reduced[level]) index -= at[level];
      at[level] = 0;
    }
    if (level < 0) return;
  }
}

template <class T, class R, template <class> class Op, bool kShifted>
void sweep(const PlainNest& nest) {
  const T* const in = static_cast<const T*>(nest.in);
  R* const running = static_cast<R*>(nest.running);
  const R* const shifts = static_cast<const R*>(nest.shifts);
  const int inner = nest.levels - 1, outer = nest.levels - 2;
  const long rows = nest.extent[outer], columns = nest.extent[inner];
  const long row_step = nest.in_stride[outer], row_out = nest.out_stride[outer], step = nest.in_stride[inner];
  for (long o = 0; o < nest.outputs; ++o) running[o] = Op<R>::start();
  odometer(nest, [&](long at, long out, long) {
    for (long i = 0; i < rows; ++i) {
      const T* const x = in + at + i * row_step;
      R* const to = running + out + i * row_out;
      const R* const shift = kShifted ? shifts + out + i * row_out : nullptr;
      if (nest.reduced[inner]) {
        R a = *to;
        const R s = kShifted ? *shift : R(0);
        if (step == 1) {
          for (long j = 0; j < columns; ++j) a = Op<R>::step(a, widen(x[j]), s);
        } else {
          for (long j = 0; j < columns; ++j) a = Op<R>::step(a, widen(x[j * step]), s);
        }
        *to = a;
      } else if (step == 1) {
        for (long j = 0; j < columns; ++j) to[j] = Op<R>::step(to[j], widen(x[j]), kShifted ? shift[j] : R(0));
      } else {
        for (long j = 0; j < columns; ++j) to[j] = Op<R>::step(to[j], widen(x[j * step]), kShifted ? shift[j] : R(0));
      }
    }
  });
}

template <class T, class R, template <class> class Op, bool kShifted = false>
void finish(const PlainNest& nest) {
  const R* const running = static_cast<const R*>(nest.running);
  const R* const shifts = static_cast<const R*>(nest.shifts);
  T* const out = static_cast<T*>(nest.out);
  for (long o = 0; o < nest.outputs; ++o)
    out[o] = narrow<T>(Op<R>::finish(running[o], kShifted ? shifts[o] : R(0), nest.count));
}

template <class T, template <class> class Op, class R = typename Running<T>::Type>
void reduce(const PlainNest& nest) {
  sweep<T, R, Op, false>(nest);
  finish<T, R, Op>(nest);
}

template <class T>
void log_sum_exp(const PlainNest& nest) {
  using R = typename Running<T>::Type;
  sweep<T, R, Max, false>(nest);
  for (long o = 0; o < nest.outputs; ++o) static_cast<R*>(nest.shifts)[o] = static_cast<R*>(nest.running)[o];
  sweep<T, R, ExpSum, true>(nest);
  finish<T, R, ExpSum, true>(nest);
}

/// The first of equals. Where a row of outputs is kept, a row of extremes stands beside the indices.
template <class T, bool kMax>
void arg_reduce(const PlainNest& nest) {
  using R = typename Running<T>::Type;
  const T* const in = static_cast<const T*>(nest.in);
  R* const best = static_cast<R*>(nest.running);
  long* const where = static_cast<long*>(nest.out);
  const int inner = nest.levels - 1, outer = nest.levels - 2;
  const long rows = nest.extent[outer], columns = nest.extent[inner], step = nest.in_stride[inner];
  odometer(nest, [&](long at, long out, long index) {
    for (long i = 0; i < rows; ++i) {
      const T* const x = in + at + i * nest.in_stride[outer];
      R* const to = best + out + i * nest.out_stride[outer];
      long* const place = where + out + i * nest.out_stride[outer];
      const long row = nest.reduced[outer] ? i : index;
      if (nest.reduced[inner]) {
        R a = widen(x[0]);
        long found = 0;
        for (long j = 1; j < columns; ++j) {
          const R value = widen(x[j * step]);
          if (kMax ? value > a : value < a) {
            a = value;
            found = j;
          }
        }
        *place = found;
      } else {
        for (long j = 0; j < columns; ++j) {
          const R value = widen(x[j * step]);
          const bool wins = row == 0 || (kMax ? value > to[j] : value < to[j]);
          to[j] = wins ? value : to[j];
          place[j] = wins ? row : place[j];
        }
      }
    }
  });
}

struct LoopRow {
  const char* op;
  PlainLoop loop;
};

template <class T>
PlainLoop find_of_dtype(const char* op) {
  using R = typename Running<T>::Type;
  using ToTheEnd = typename RunningToTheEnd<T>::Type;
  const LoopRow rows[] = {
      {"ReduceMax", &reduce<T, Max>},
      {"ReduceMin", &reduce<T, Min>},
      {"ReduceSum", &reduce<T, Sum>},
      {"ReduceMean", &reduce<T, Mean>},
      {"ReduceProd", &reduce<T, Prod>},
      {"ReduceL1", &reduce<T, L1>},
      {"ReduceL2", &reduce<T, L2, ToTheEnd>},
      {"ReduceSumSquare", &reduce<T, SumSquare>},
      {"ReduceLogSum", &reduce<T, LogSum, ToTheEnd>},
      {"ArgMax", &arg_reduce<T, true>},
      {"ArgMin", &arg_reduce<T, false>},
  };
  for (const LoopRow& row : rows)
    if (__builtin_strcmp(row.op, op) == 0) return row.loop;
  if constexpr (R(0.5) != R(0))
    if (__builtin_strcmp(op, "ReduceLogSumExp") == 0) return &log_sum_exp<T>;
  return nullptr;
}

struct DtypeRow {
  const char* dtype;
  PlainLoop (*find)(const char* op);
};

PlainLoop find_loop(const char* op, const char* dtype) {
  static constexpr DtypeRow kRows[] = {
      {"f32", &find_of_dtype<float>},    {"f64", &find_of_dtype<double>},     {"bf16", &find_of_dtype<Bf16>},
      {"f16", &find_of_dtype<_Float16>}, {"s8", &find_of_dtype<signed char>}, {"u8", &find_of_dtype<unsigned char>},
      {"s32", &find_of_dtype<int>},      {"s64", &find_of_dtype<long>},
  };
  for (const DtypeRow& row : kRows)
    if (__builtin_strcmp(row.dtype, dtype) == 0) return row.find(op);
  return nullptr;
}

}  // namespace
}  // namespace tenfold::tools::bench
