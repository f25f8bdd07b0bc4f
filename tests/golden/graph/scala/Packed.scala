package object shop extends shop.packed.Tools {
  def wrapped(text: String): String = text
}
