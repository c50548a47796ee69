// The precompiled headers of the tests need a target with a source file.
int main() {}
