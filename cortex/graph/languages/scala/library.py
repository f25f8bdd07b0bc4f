"""Names of methods in Scala's standard library. A table only."""

from __future__ import annotations

#: containers, options, futures and text
SCALA_METHODS = frozenset(
    (
        "addAll addOne andThen appended appendedAll canEqual collectFirst combinations compose "
        "containsSlice copyToArray corresponds diff distinct distinctBy dropRight dropWhile "
        "endsWith filterNot flatten fold foldLeft foldRight forall foreach getOrElse "
        "getOrElseUpdate groupBy groupMap groupMapReduce grouped headOption indexWhere indices "
        "init inits intersect isDefined isDefinedAt knownSize lastIndexWhere lastOption lazyZip "
        "lengthCompare lift mapConserve mapValues maxBy maxOption minBy minOption mkString "
        "nonEmpty onComplete orElse padTo partitionMap patch permutations prepended prependedAll "
        "product recover recoverWith reduceLeft reduceLeftOption reduceOption reduceRight "
        "removed reverseIterator reverseMap scanLeft scanRight segmentLength sliding sortBy "
        "sortWith sorted span splitAt startsWith stripMargin stripPrefix stripSuffix subsetOf "
        "subtractOne sum tail tails takeRight takeWhile tapEach toArray toBuffer toDouble "
        "toIndexedSeq toInt toIterable toIterator toList toLong toMap toOption toSeq toSet "
        "toVector transform transpose unapply unzip unzip3 updated updatedWith view withDefault "
        "withDefaultValue withFilter zip zipAll zipWithIndex"
    ).split()
)
