package extended

actual class Clock {
    actual fun tell(loud: Boolean) {}
}
