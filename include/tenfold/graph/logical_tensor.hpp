// SPDX-License-Identifier: Apache-2.0
//
// logical_tensor: what a tensor is, without its data.
#ifndef TENFOLD_GRAPH_LOGICAL_TENSOR_HPP
#define TENFOLD_GRAPH_LOGICAL_TENSOR_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "tenfold/graph/error.hpp"

namespace tenfold {
namespace graph {

class logical_tensor {
 public:
  using dim = std::int64_t;
  using dims = std::vector<dim>;

  /// oneDNN's; after s64, ours.
  enum class data_type {
    undef = tenfold_data_type_undef,
    f16 = tenfold_f16,
    bf16 = tenfold_bf16,
    f32 = tenfold_f32,
    s32 = tenfold_s32,
    s8 = tenfold_s8,
    u8 = tenfold_u8,
    boolean = tenfold_boolean,
    f8_e5m2 = tenfold_f8_e5m2,
    f8_e4m3 = tenfold_f8_e4m3,
    s4 = tenfold_s4,
    u4 = tenfold_u4,
    s64 = tenfold_s64,
    f64 = tenfold_f64,
    s16 = tenfold_s16,
    u16 = tenfold_u16,
    u32 = tenfold_u32,
    u64 = tenfold_u64,
  };

  /// `any` and `undef` let Tenfold decide (row-major); `opaque` can be described, but no call takes it.
  enum class layout_type {
    undef = tenfold_layout_type_undef,
    any = tenfold_layout_type_any,
    strided = tenfold_layout_type_strided,
    opaque = tenfold_layout_type_opaque,
  };

  enum class property_type {
    undef = tenfold_property_undef,
    variable = tenfold_property_variable,
    constant = tenfold_property_constant,
    host_scalar = tenfold_property_host_scalar,
  };

  tenfold_logical_tensor_t data = {};

  logical_tensor() { data.ndims = TENFOLD_UNKNOWN_NDIMS; }
  explicit logical_tensor(const tenfold_logical_tensor_t& c_data) : data(c_data) {}

  /// Of rank `ndims` (-1: unknown) and open dims.
  logical_tensor(std::size_t tid, data_type dtype, std::int32_t ndims, layout_type ltype,
                 property_type ptype = property_type::undef) {
    fill(tid, dtype, ndims, ltype, ptype);
    std::fill(data.dims, data.dims + std::max(ndims, std::int32_t{0}), TENFOLD_UNKNOWN_DIM);
    std::fill(data.strides, data.strides + std::max(ndims, std::int32_t{0}), TENFOLD_UNKNOWN_DIM);
  }
  logical_tensor(std::size_t tid, data_type dtype, layout_type ltype = layout_type::undef)
      : logical_tensor(tid, dtype, TENFOLD_UNKNOWN_NDIMS, ltype) {}

  /// With dims; a strided layout gets row-major strides, where all dims are known.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims, layout_type ltype,
                 property_type ptype = property_type::undef) {
    fill(tid, dtype, rank_of(adims), ltype, ptype);
    std::copy(adims.begin(), adims.end(), data.dims);
    if (ltype == layout_type::strided) fill_row_major(adims);
  }

  /// The same, of dims in braces: {64} is the dim 64, not a rank.
  logical_tensor(std::size_t tid, data_type dtype, std::initializer_list<dim> adims, layout_type ltype,
                 property_type ptype = property_type::undef)
      : logical_tensor(tid, dtype, dims(adims), ltype, ptype) {}

  /// Strided; with a stride that is TENFOLD_UNKNOWN_DIM, none is known, and Tenfold decides as for `any`.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims, const dims& strides,
                 property_type ptype = property_type::undef) {
    fill(tid, dtype, rank_of(adims), layout_type::strided, ptype);
    if (strides.size() != adims.size())
      error::raise(tenfold_invalid_arguments, "could not create logical_tensor: " + std::to_string(strides.size()) +
                                                  " strides for " + std::to_string(adims.size()) + " dims");
    std::copy(adims.begin(), adims.end(), data.dims);
    std::copy(strides.begin(), strides.end(), data.strides);
  }

  /// Opaque.
  logical_tensor(std::size_t tid, data_type dtype, const dims& adims, std::size_t layout_id,
                 property_type ptype = property_type::undef) {
    fill(tid, dtype, rank_of(adims), layout_type::opaque, ptype);
    std::copy(adims.begin(), adims.end(), data.dims);
    data.strides[0] = static_cast<std::int64_t>(layout_id);
  }

  /// Throws while the rank is not known.
  dims get_dims() const {
    if (data.ndims < 0) error::raise(tenfold_invalid_arguments, "cannot return dims when ndims < 0");
    return {data.dims, data.dims + data.ndims};
  }
  std::size_t get_id() const { return static_cast<std::size_t>(data.id); }
  data_type get_data_type() const { return static_cast<data_type>(data.data_type); }
  property_type get_property_type() const { return static_cast<property_type>(data.property); }
  layout_type get_layout_type() const { return static_cast<layout_type>(data.layout_type); }

  /// Throws unless the layout is opaque.
  std::size_t get_layout_id() const {
    if (get_layout_type() != layout_type::opaque)
      error::raise(tenfold_invalid_arguments, "layout type should be opaque");
    return static_cast<std::size_t>(data.strides[0]);
  }

  /// Throws unless the layout is strided and the rank known.
  dims get_strides() const {
    if (get_layout_type() != layout_type::strided)
      error::raise(tenfold_invalid_arguments, "layout type should be strided");
    if (data.ndims < 0) error::raise(tenfold_invalid_arguments, "cannot return strides when ndims < 0");
    return {data.strides, data.strides + data.ndims};
  }

  /// Bytes of a buffer for it; throws while a dim is open.
  std::size_t get_mem_size() const {
    std::size_t size = 0;
    error::wrap_c_api(tenfold_logical_tensor_get_mem_size(&data, &size), "could not get memory size");
    return size;
  }

  bool is_equal(const logical_tensor& other) const {
    std::int32_t equal = 0;
    error::wrap_c_api(tenfold_logical_tensor_is_equal(&data, &other.data, &equal), "could not compare logical tensors");
    return equal != 0;
  }

 private:
  static std::int32_t rank_of(const dims& adims) {
    if (adims.size() > TENFOLD_MAX_NDIMS)
      error::raise(tenfold_invalid_arguments,
                   "could not create logical_tensor: " + std::to_string(adims.size()) + " dims; the most are 12");
    return static_cast<std::int32_t>(adims.size());
  }

  void fill(std::size_t tid, data_type dtype, std::int32_t ndims, layout_type ltype, property_type ptype) {
    if (ndims < TENFOLD_UNKNOWN_NDIMS || ndims > TENFOLD_MAX_NDIMS)
      error::raise(tenfold_invalid_arguments, "could not create logical_tensor: ndims is " + std::to_string(ndims) +
                                                  "; it must be -1 to " + std::to_string(TENFOLD_MAX_NDIMS));
    data.id = static_cast<std::int64_t>(tid);
    data.ndims = ndims;
    data.data_type = static_cast<tenfold_data_type_t>(dtype);
    data.property = static_cast<tenfold_property_t>(ptype);
    data.layout_type = static_cast<tenfold_layout_type_t>(ltype);
  }

  void fill_row_major(const dims& adims) {
    const bool is_open = std::find(adims.begin(), adims.end(), TENFOLD_UNKNOWN_DIM) != adims.end();
    std::int64_t step = 1;
    for (std::size_t i = adims.size(); i-- > 0;) {
      data.strides[i] = is_open ? TENFOLD_UNKNOWN_DIM : step;
      // What no tensor can have stays what it is, for the library to refuse.
      if (adims[i] > 1 && step <= INT64_MAX / adims[i]) step *= adims[i];
    }
  }
};

}  // namespace graph
}  // namespace tenfold

#endif  // TENFOLD_GRAPH_LOGICAL_TENSOR_HPP
