// Computed properties and observers run code where they are read and assigned; others do not.
protocol UsesSized {
  var size: Int { get }
}

class UsesScale {
  func weigh(_ n: Int) -> Int { return n }
  func note(_ n: Int) {}
}

class UsesCrate: UsesSized {
  let scale = UsesScale()
  var plain = 1
  var size: Int { return scale.weigh(1) }
  var weight: Int {
    get { return scale.weigh(2) }
    set { scale.note(newValue) }
  }
  var watched: Int = 0 {
    didSet { scale.note(watched) }
  }
  static var count: Int { return UsesScale().weigh(3) }

  func own() -> Int { return size + self.weight }
  func hidden(size: Int) -> Int { return size }
}

extension UsesCrate {
  var twice: Int { return size }
}

struct UsesSack {
  var size = 1
  var weight = 2
}

func usesRead(crate: UsesCrate, sized: UsesSized) -> Int { return crate.size + sized.size + crate.twice }
func usesAssign(crate: UsesCrate) { crate.weight = 1; crate.watched = 2 }
func usesChange(crate: UsesCrate) { crate.weight += UsesCrate.count }
func usesOther(sack: UsesSack, crate: UsesCrate) -> Int { return sack.size + crate.plain + crate.watched }
