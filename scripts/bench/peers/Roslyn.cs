// The targets of each call, each `new` and each attribute of a folder's C# files, by Roslyn.
//
//     dotnet Roslyn.dll FOLDER REFERENCES  ->  lines "path line column path line column", the last three
//     "-" for a target outside the folder; columns from 0, in UTF-16 units. REFERENCES is a folder of assemblies.
//
// Each *.csproj is a compilation of the files below it; packages are not read, so names in them have no target.

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Text.RegularExpressions;
using Microsoft.CodeAnalysis;
using Microsoft.CodeAnalysis.CSharp;
using Microsoft.CodeAnalysis.CSharp.Syntax;

static class Roslyn
{
    static readonly string[] Symbols = {
        "NETCOREAPP", "NETCOREAPP3_0", "NETCOREAPP3_1", "NETCOREAPP3_1_OR_GREATER", "NETCOREAPP3_0_OR_GREATER", "NETSTANDARD2_0",
        "NETSTANDARD2_0_OR_GREATER", "TRACE" };
    // The imports of a build for every file (`ImplicitUsings`); written before a file's first line, whose columns it shifts.
    const string Implicit = "using System;using System.Collections.Generic;using System.IO;using System.Linq;"
        + "using System.Net.Http;using System.Threading;using System.Threading.Tasks;";
    static readonly Regex FileNamespace = new Regex(@"^(\s*namespace\s+[\w.]+\s*);", RegexOptions.Multiline);
    static readonly Regex Reference = new Regex("<ProjectReference\\s+Include=\"([^\"]+)\"");
    static readonly HashSet<string> Shifted = new HashSet<string>();
    static string root;

    static void Main(string[] arguments)
    {
        root = Path.GetFullPath(arguments[0]).TrimEnd('/');
        var assemblies = Directory.GetFiles(arguments[1], "*.dll", SearchOption.AllDirectories)
            .Select(one => (MetadataReference)MetadataReference.CreateFromFile(one)).ToList();
        var projects = Directory.GetFiles(root, "*.csproj", SearchOption.AllDirectories).OrderBy(one => one).ToList();
        var files = Directory.GetFiles(root, "*.cs", SearchOption.AllDirectories)
            .GroupBy(file => projects.Where(one => file.StartsWith(Path.GetDirectoryName(one) + "/"))
                .OrderByDescending(one => Path.GetDirectoryName(one).Length).FirstOrDefault() ?? "");
        var sources = files.ToDictionary(one => one.Key, one => one.OrderBy(file => file).ToList());
        bool global = Directory.GetFiles(root, "*.props", SearchOption.AllDirectories).Concat(projects)
            .Any(one => Regex.IsMatch(File.ReadAllText(one), "<ImplicitUsings>(enable|true)"));
        var made = new Dictionary<string, CSharpCompilation>();
        foreach (var project in sources.Keys)
            foreach (var tree in Make(project, sources, assemblies, made, global).SyntaxTrees) Tell(made[project].GetSemanticModel(tree));
        Console.Out.Flush();
    }

    static CSharpCompilation Make(string project, Dictionary<string, List<string>> sources, List<MetadataReference> assemblies,
        Dictionary<string, CSharpCompilation> made, bool global)
    {
        if (made.TryGetValue(project, out var known)) return known;
        var trees = sources.TryGetValue(project, out var files) ? files.Select(one => Parse(one, global)).ToList() : new List<SyntaxTree>();
        var options = new CSharpCompilationOptions(OutputKind.DynamicallyLinkedLibrary, allowUnsafe: true);
        made[project] = CSharpCompilation.Create(Path.GetFileNameWithoutExtension(project), trees, assemblies, options);
        foreach (var other in Reach(project).Where(one => one != project))
            made[project] = made[project].AddReferences(Make(other, sources, assemblies, made, global).ToMetadataReference());
        return made[project];
    }

    // The projects that a project refers to, directly and indirectly.
    static IEnumerable<string> Reach(string project)
    {
        var seen = new HashSet<string>();
        var pending = new Stack<string>(Named(project));
        while (pending.Count > 0)
        {
            var one = pending.Pop();
            if (!File.Exists(one) || !seen.Add(one)) continue;
            foreach (var other in Named(one)) pending.Push(other);
        }
        return seen;
    }

    // The references of a project's file, and of the nearest Directory.Build.props above it.
    static IEnumerable<string> Named(string project)
    {
        if (project == "") return new string[0];
        var folder = Path.GetDirectoryName(project);
        var text = File.ReadAllText(project);
        for (var above = folder; above != null && above.StartsWith(root); above = Path.GetDirectoryName(above))
        {
            var shared = Path.Combine(above, "Directory.Build.props");
            if (!File.Exists(shared)) continue;
            text += File.ReadAllText(shared);
            break;
        }
        return Reference.Matches(text).Cast<Match>().Select(one => Path.GetFullPath(Path.Combine(folder, one.Groups[1].Value.Replace('\\', '/'))));
    }

    static SyntaxTree Parse(string path, bool global)
    {
        var text = File.ReadAllText(path);
        if (FileNamespace.IsMatch(text)) text = FileNamespace.Replace(text, "$1{", 1) + "\n}";
        if (global && !text.TrimStart().StartsWith("#")) { text = Implicit + text; Shifted.Add(path); }
        return CSharpSyntaxTree.ParseText(text, new CSharpParseOptions(LanguageVersion.Preview, preprocessorSymbols: Symbols), path);
    }

    static void Tell(SemanticModel model)
    {
        foreach (var node in model.SyntaxTree.GetRoot().DescendantNodes())
        {
            SymbolInfo told;
            SyntaxNode name;
            if (node is InvocationExpressionSyntax call) (name, told) = (call.Expression, model.GetSymbolInfo(call.Expression));
            else if (node is ObjectCreationExpressionSyntax made) (name, told) = (made.Type, model.GetSymbolInfo(made));
            else if (node is AttributeSyntax attribute) (name, told) = (attribute.Name, model.GetSymbolInfo(attribute));
            else continue;
            // The build, not this program, is given the assemblies that a test may see of its library.
            bool hidden = told.CandidateReason == CandidateReason.Inaccessible && told.CandidateSymbols.Length == 1;
            var symbol = hidden ? told.CandidateSymbols[0] : told.Symbol;
            var word = Last(name);
            if (word == null || symbol == null || symbol.Kind == SymbolKind.ErrorType) continue;
            if (symbol is IMethodSymbol method) symbol = method.ReducedFrom ?? method;
            symbol = symbol.OriginalDefinition;
            var places = symbol.Locations.Where(one => one.IsInSource).ToList();
            if (symbol is IMethodSymbol part && part.PartialImplementationPart != null) places.AddRange(part.PartialImplementationPart.Locations);
            var here = Place(word.Identifier.GetLocation());
            foreach (var place in places) Console.WriteLine(here + " " + Place(place));
            if (places.Count == 0) Console.WriteLine(here + " - - -");
        }
    }

    static SimpleNameSyntax Last(SyntaxNode name) => name switch
    {
        MemberAccessExpressionSyntax one => one.Name,
        MemberBindingExpressionSyntax one => one.Name,
        QualifiedNameSyntax one => one.Right,
        AliasQualifiedNameSyntax one => one.Name,
        NullableTypeSyntax one => Last(one.ElementType),
        SimpleNameSyntax one => one,
        _ => null,
    };

    static string Place(Location location)
    {
        var at = location.GetLineSpan();
        int column = at.StartLinePosition.Character;
        if (at.StartLinePosition.Line == 0 && Shifted.Contains(at.Path)) column -= Implicit.Length;
        return at.Path.Substring(root.Length + 1).Replace(" ", "%20") + " " + (at.StartLinePosition.Line + 1) + " " + column;
    }
}
