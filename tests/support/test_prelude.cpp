// SPDX-License-Identifier: MIT
// Only here so that the prelude has a target.

int main() { return 0; }
