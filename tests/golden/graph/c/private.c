/* What another file keeps to itself is not called from here: these are of the system. */
int stranger(void) {
    spin(1);
    AGAIN(2);
    return io_open("y");
}
