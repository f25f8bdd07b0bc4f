package extended

expect class Clock {
    fun tell(loud: Boolean = false)
}
