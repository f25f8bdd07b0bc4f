"""Types of Kotlin's library by which overloads differ: results of its functions, and supertypes."""

#: results of functions without a receiver
FUNCTION_RESULTS = {
    **dict.fromkeys("listOf emptyList listOfNotNull List buildList".split(), "List"),
    **dict.fromkeys("mutableListOf arrayListOf MutableList ArrayList".split(), "MutableList"),
    **dict.fromkeys("setOf emptySet buildSet".split(), "Set"),
    **dict.fromkeys("mutableSetOf hashSetOf linkedSetOf HashSet LinkedHashSet".split(), "MutableSet"),
    **dict.fromkeys("mapOf emptyMap buildMap".split(), "Map"),
    **dict.fromkeys("mutableMapOf hashMapOf linkedMapOf HashMap LinkedHashMap".split(), "MutableMap"),
    **dict.fromkeys("arrayOf emptyArray arrayOfNulls Array".split(), "Array"),
    **dict.fromkeys("sequenceOf emptySequence generateSequence sequence".split(), "Sequence"),
    **dict.fromkeys("buildString String".split(), "String"),
    **{f"{name}ArrayOf": f"{name.capitalize()}Array" for name in "byte int long char short double".split()},
    **{f"{name}Array": f"{name}Array" for name in "Byte Int Long Char Short Double".split()},
    "Pair": "Pair",
    "StringBuilder": "StringBuilder",
}
#: results of methods and extensions, on any receiver
METHOD_RESULTS = {
    **dict.fromkeys(
        "toList asList mapNotNull flatMap sorted sortedBy distinct drop take chunked split lines".split(),
        "List",
    ),
    **dict.fromkeys("toSet distinctBy".split(), "Set"),
    **dict.fromkeys("toMutableList".split(), "MutableList"),
    **dict.fromkeys("toMap associateBy associateWith associate groupBy mapValues mapKeys".split(), "Map"),
    **dict.fromkeys("toTypedArray".split(), "Array"),
    **dict.fromkeys("asSequence lineSequence".split(), "Sequence"),
    **dict.fromkeys(
        "toString trim trimIndent trimMargin lowercase uppercase substring repeat joinToString "
        "substringAfter substringBefore replace padStart padEnd removePrefix removeSuffix".split(),
        "String",
    ),
    **dict.fromkeys("toByteArray encodeToByteArray".split(), "ByteArray"),
    "toCharArray": "CharArray",
    "toRegex": "Regex",
    "toInt": "int",
    "toLong": "long",
    "toDouble": "double",
    "toFloat": "float",
    "toByte": "byte",
    "toShort": "short",
    "toChar": "char",
    "to": "Pair",
    "until": "IntRange",
    "downTo": "IntProgression",
}
#: a type → its supertypes, the nearest first
SUPERS = {
    "MutableList": ("List", "MutableCollection", "Collection", "MutableIterable", "Iterable"),
    "List": ("Collection", "Iterable"),
    "MutableSet": ("Set", "MutableCollection", "Collection", "MutableIterable", "Iterable"),
    "Set": ("Collection", "Iterable"),
    "MutableMap": ("Map",),
    "Map": (),
    "Array": (),
    "Sequence": (),
    "Pair": (),
    "Regex": (),
    "StringBuilder": ("CharSequence", "Appendable"),
    "IntRange": ("IntProgression", "ClosedRange", "OpenEndRange", "Iterable"),
    "IntProgression": ("Iterable",),
    **{f"{name}Array": () for name in "Byte Int Long Char Short Double Float Boolean".split()},
}
#: extensions of Kotlin's library that a call on an unknown receiver more likely means than a
#: project's
COMMON_EXTENSIONS = frozenset(
    "all also any apply asSequence associate associateBy associateWith average chunked coerceAtLeast "
    "coerceAtMost coerceIn contains contentEquals copyInto copyOf copyOfRange count dec decodeToString "
    "distinct distinctBy drop dropLast dropWhile elementAt encodeToByteArray endsWith fill filter "
    "filterIsInstance filterNot filterNotNull find findLast first firstNotNullOf firstOrNull flatMap "
    "flatten fold forEach forEachIndexed format get getOrDefault getOrElse getOrNull getOrPut "
    "getValue groupBy groupingBy ifEmpty inc indexOf indexOfFirst indexOfLast indexOf intersect "
    "invoke isBlank isEmpty isNotBlank isNotEmpty isNullOrBlank isNullOrEmpty joinTo joinToString last "
    "lastIndexOf lastOrNull let lines lineSequence lowercase map mapIndexed mapKeys mapNotNull mapTo "
    "mapValues matches max maxBy maxByOrNull maxOf maxOrNull min minBy minByOrNull minOf minOrNull "
    "minus none onEach orEmpty padEnd padStart partition plus plusAssign print println random read "
    "readBytes readLines readText reduce remove removeAll removeFirst removeLast removePrefix removeSuffix "
    "repeat replace replaceFirst require reversed run runCatching setValue shuffle single singleOrNull slice sort "
    "sortBy sortWith sorted sortedBy sortedByDescending sortedWith split startsWith substring "
    "substringAfter substringAfterLast substringBefore substringBeforeLast subtract sum sumOf take "
    "takeIf takeLast takeUnless takeWhile to toByte toByteArray toCharArray toChar toDouble toFloat "
    "toHashSet toInt toIntOrNull toList toLong toLongOrNull toMap toMutableList toMutableMap "
    "toMutableSet toPair toRegex toSet toShort toSortedMap toSortedSet toString toTypedArray trim "
    "trimEnd trimIndent trimMargin trimStart union unzip until uppercase use windowed with withIndex "
    "write writeBytes writeText zip zipWithNext".split()
)
