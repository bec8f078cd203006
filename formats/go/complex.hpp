#pragma once

#include "formats/go/value.hpp"

namespace formats {

/// complex128: what an imaginary literal (`2i`, `1+2i`) is. Templates can print and compare it and
/// little else.
class complex_number final : public object {
public:
  complex_number(double real_part, double imaginary_part)
      : real(real_part), imaginary(imaginary_part) {}
  std::string type_name() const override { return "complex128"; }
  std::string kind_name() const override { return "complex128"; }
  bool truth() const override { return real != 0 || imaginary != 0; }
  bool equals(const object& other) const override {
    const auto* o = dynamic_cast<const complex_number*>(&other);
    return o && real == o->real && imaginary == o->imaginary;
  }

  double real;
  double imaginary;
};

}  // namespace formats
