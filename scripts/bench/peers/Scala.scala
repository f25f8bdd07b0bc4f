// The targets of each name of a folder's Scala files, by the Scala compiler.
//
//     Scala OUT FILE ...  ->  lines "path offset path offset name", the last three "-" for a
//     target outside the files; offsets in UTF-16 units.

import java.io.PrintWriter
import scala.reflect.internal.util.BatchSourceFile
import scala.tools.nsc.{Global, Settings}
import scala.tools.nsc.reporters.StoreReporter

object Scala {
  def main(arguments: Array[String]): Unit = {
    val settings = new Settings()
    settings.usejavacp.value = true
    settings.Yrangepos.value = true
    settings.processArgumentString("-Xsource:2.12 -language:_ -Ypartial-unification")
    val reporter = new StoreReporter
    val global = new Global(settings, reporter)
    // A file in another version of Scala would end the run before any name has a type.
    settings.stopAfter.value = List("parser")
    new global.Run().compile(arguments.toList.tail)
    val others = reporter.infos.filter(_.severity == reporter.ERROR).map(_.pos.source.file.path)
    reporter.reset()
    settings.stopAfter.value = List("typer")
    val run = new global.Run
    run.compile(arguments.toList.tail.filterNot(others))
    val out = new PrintWriter(arguments.head)
    val teller = new Teller[global.type](global, out)
    run.units.foreach(unit => teller.tell(unit))
    out.close()
  }
}

class Teller[G <: Global](val global: G, out: PrintWriter) {
  import global._

  def tell(unit: CompilationUnit): Unit = new Names(unit.source.file.path).traverse(unit.body)

  private class Names(path: String) extends Traverser {
    override def traverse(tree: Tree): Unit = {
      tree match {
        case one: RefTree if one.symbol != null && one.symbol != NoSymbol && one.pos.isDefined => say(one.pos.point, one.symbol)
        case one: TypeTree if one.original != null => traverse(one.original)
        case _ =>
      }
      super.traverse(tree)
    }

    private def say(at: Int, symbol: Symbol): Unit = {
      if (symbol.hasPackageFlag || symbol.isError) return
      val meant = if (symbol.isConstructor) symbol.owner else symbol
      val place = meant.pos
      if (place.isDefined && place.source.file != null && meant.sourceFile != null)
        out.println(s"$path\t$at\t${place.source.file.path}\t${place.point}\t${meant.name.decode.trim}")
      else out.println(s"$path\t$at\t-\t-\t-")
    }
  }
}
