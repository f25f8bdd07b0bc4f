// The targets of each call and each `new` of a folder's Java files, by javac.
//
//     java Javac.java FOLDER  ->  lines "path line column path line column", the last three "-" for
//     a target outside the folder; columns from 0, in UTF-16 units.

import com.sun.source.tree.*;
import com.sun.source.util.*;
import java.nio.file.*;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;
import javax.lang.model.element.*;
import javax.lang.model.util.ElementFilter;
import javax.tools.*;

public class Javac {
    static Trees trees;
    static Path root;

    public static void main(String[] arguments) throws Exception {
        root = Path.of(arguments[0]).toRealPath();
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(path -> path.toString().endsWith(".java")).filter(Javac::isWanted).toList();
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null);
        JavacTask task = (JavacTask) compiler.getTask(
            null, manager, message -> {}, List.of("-proc:none", "-Xmaxerrs", "1"), null, manager.getJavaFileObjectsFromPaths(files));
        trees = Trees.instance(task);
        List<CompilationUnitTree> units = new ArrayList<>();
        task.parse().forEach(units::add);
        try { task.analyze(); } catch (RuntimeException error) { System.err.println("javac: " + error); }
        for (CompilationUnitTree unit : units) new Calls(unit).scan(unit, null);
        System.out.flush();
    }

    static boolean isWanted(Path path) {
        String name = path.getFileName().toString();
        return !name.equals("module-info.java") && !name.equals("package-info.java");
    }

    static class Calls extends TreePathScanner<Void, Void> {
        final CompilationUnitTree unit;
        final StringBuilder out = new StringBuilder();

        Calls(CompilationUnitTree unit) { this.unit = unit; }

        @Override public Void visitMethodInvocation(MethodInvocationTree node, Void none) {
            tell(node.getMethodSelect(), trees.getElement(getCurrentPath()));
            return super.visitMethodInvocation(node, none);
        }

        @Override public Void visitNewClass(NewClassTree node, Void none) {
            Tree made = node.getIdentifier();
            if (made instanceof ParameterizedTypeTree generic) made = generic.getType();
            if (node.getClassBody() == null) tell(made, trees.getElement(getCurrentPath()));
            else if (trees.getElement(new TreePath(getCurrentPath(), made)) instanceof TypeElement type) {
                // Of an anonymous class: its base class, whichever constructor runs.
                tell(made, type);
                for (Element one : ElementFilter.constructorsIn(type.getEnclosedElements())) tell(made, one);
            }
            return super.visitNewClass(node, none);
        }

        void tell(Tree callee, Element element) {
            if (element == null || element.asType().getKind() == javax.lang.model.type.TypeKind.ERROR) return;
            SourcePositions positions = trees.getSourcePositions();
            long at = callee instanceof MemberSelectTree member
                ? positions.getEndPosition(unit, callee) - member.getIdentifier().length()
                : positions.getStartPosition(unit, callee);
            if (at < 0) return;
            String target = place(element);
            System.out.println(show(unit, at) + " " + target);
        }

        String place(Element element) {
            TreePath path = trees.getPath(element);
            if (path == null && element.getKind() == ElementKind.CONSTRUCTOR) path = trees.getPath(element.getEnclosingElement());
            if (path == null) return "- - -";
            CompilationUnitTree there = path.getCompilationUnit();
            Tree leaf = path.getLeaf();
            long from = trees.getSourcePositions().getStartPosition(there, leaf);
            ModifiersTree modifiers = leaf instanceof MethodTree method ? method.getModifiers()
                : leaf instanceof ClassTree type ? type.getModifiers() : null;
            if (modifiers != null) from = Math.max(from, trees.getSourcePositions().getEndPosition(there, modifiers));
            if (from < 0) return "- - -";
            boolean made = element.getKind() == ElementKind.CONSTRUCTOR;
            String name = (made ? element.getEnclosingElement() : element).getSimpleName().toString();
            try {
                Matcher found = Pattern.compile("\\b" + Pattern.quote(name) + "\\b").matcher(there.getSourceFile().getCharContent(true));
                return show(there, found.find((int) from) ? found.start() : from);
            } catch (java.io.IOException error) {
                return "- - -";
            }
        }

        static String show(CompilationUnitTree unit, long at) {
            LineMap lines = unit.getLineMap();
            long line = lines.getLineNumber(at);
            String path = root.relativize(Path.of(unit.getSourceFile().toUri())).toString();
            return path.replace(" ", "%20") + " " + line + " " + (at - lines.getStartPosition(line));
        }
    }
}
