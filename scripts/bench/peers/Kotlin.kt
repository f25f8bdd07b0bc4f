// The targets of each call of a folder's Kotlin files: a plug-in of the Kotlin compiler.
//
// Lines "path offset path offset name", the last three "-" for a target outside the folder; offsets in
// UTF-16 units, the second where the definition begins, its comment and its modifiers included.
@file:OptIn(org.jetbrains.kotlin.fir.symbols.SymbolInternals::class, org.jetbrains.kotlin.compiler.plugin.ExperimentalCompilerApi::class, org.jetbrains.kotlin.fir.declarations.DirectDeclarationsAccess::class)

package truth

import java.io.File
import org.jetbrains.kotlin.KtRealSourceElementKind
import org.jetbrains.kotlin.compiler.plugin.CompilerPluginRegistrar
import org.jetbrains.kotlin.config.CompilerConfiguration
import org.jetbrains.kotlin.diagnostics.DiagnosticReporter
import org.jetbrains.kotlin.fir.FirSession
import org.jetbrains.kotlin.fir.analysis.checkers.MppCheckerKind
import org.jetbrains.kotlin.fir.analysis.checkers.context.CheckerContext
import org.jetbrains.kotlin.fir.analysis.checkers.expression.ExpressionCheckers
import org.jetbrains.kotlin.fir.analysis.checkers.expression.FirFunctionCallChecker
import org.jetbrains.kotlin.fir.analysis.extensions.FirAdditionalCheckersExtension
import org.jetbrains.kotlin.fir.expressions.FirFunctionCall
import org.jetbrains.kotlin.fir.expressions.FirImplicitInvokeCall
import org.jetbrains.kotlin.fir.expressions.FirQualifiedAccessExpression
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrar
import org.jetbrains.kotlin.fir.extensions.FirExtensionRegistrarAdapter
import org.jetbrains.kotlin.fir.references.toResolvedBaseSymbol
import org.jetbrains.kotlin.fir.resolve.providers.firProvider
import org.jetbrains.kotlin.fir.symbols.FirBasedSymbol
import org.jetbrains.kotlin.fir.symbols.impl.FirCallableSymbol
import org.jetbrains.kotlin.fir.symbols.impl.FirClassLikeSymbol
import org.jetbrains.kotlin.fir.symbols.impl.FirConstructorSymbol
import org.jetbrains.kotlin.fir.declarations.FirCallableDeclaration
import org.jetbrains.kotlin.fir.unwrapFakeOverrides
import org.jetbrains.kotlin.fir.resolve.toRegularClassSymbol
import org.jetbrains.kotlin.fir.resolve.getContainingClassSymbol

private val out by lazy { File(System.getProperty("calls.to")).printWriter() }

class Registrar : CompilerPluginRegistrar() {
    override val pluginId = "calls"
    override val supportsK2 = true

    override fun ExtensionStorage.registerExtensions(configuration: CompilerConfiguration) {
        FirExtensionRegistrarAdapter.registerExtension(Extensions())
    }
}

class Extensions : FirExtensionRegistrar() {
    override fun ExtensionRegistrarContext.configurePlugin() { +::Checkers }
}

class Checkers(session: FirSession) : FirAdditionalCheckersExtension(session) {
    override val expressionCheckers = object : ExpressionCheckers() {
        override val functionCallCheckers: Set<FirFunctionCallChecker> = setOf(Calls)
    }
}

object Calls : FirFunctionCallChecker(MppCheckerKind.Common) {
    context(context: CheckerContext, reporter: DiagnosticReporter)
    override fun check(expression: FirFunctionCall) {
        val path = context.containingFileSymbol?.fir?.sourceFile?.path ?: return
        val held = if (expression is FirImplicitInvokeCall) expression.explicitReceiver as? FirQualifiedAccessExpression else null
        val name = (held ?: expression).calleeReference
        val source = name.source ?: return
        if (source.kind !is KtRealSourceElementKind || expression.source?.kind !is KtRealSourceElementKind) return
        val at = source.startOffset
        for (symbol in listOfNotNull(held?.calleeReference?.toResolvedBaseSymbol(), expression.calleeReference.toResolvedBaseSymbol())) {
            tell(path, at, symbol, context.session)
        }
        out.flush()
    }

    private fun tell(path: String, at: Int, symbol: FirBasedSymbol<*>, asking: FirSession) {
        var one: FirBasedSymbol<*> = symbol
        if (one is FirCallableSymbol<*>) one = (one.fir as FirCallableDeclaration).unwrapFakeOverrides().symbol
        if (one is FirConstructorSymbol) one = one.getContainingClassSymbol() ?: one
        // Of a class in several source sets one provider or the other knows the file.
        val file = listOf(one.moduleData.session, asking).firstNotNullOfOrNull { session ->
            when (one) {
                is FirCallableSymbol<*> -> session.firProvider.getFirCallableContainerFile(one)
                is FirClassLikeSymbol<*> -> session.firProvider.getFirClassifierContainerFileIfAny(one.classId)
                else -> null
            }
        }
        val isLocal = if (one is FirClassLikeSymbol<*>) one.classId.isLocal else (one as? FirCallableSymbol<*>)?.callableId?.className == null
        if (file == null && one.source != null && !isLocal) return // no opinion
        val there = file?.sourceFile?.path ?: (if (one.source != null) path else null)
        val source = one.source
        val word = when (one) {
            is FirCallableSymbol<*> -> one.callableId?.callableName?.asString() ?: one.name.asString()
            is FirClassLikeSymbol<*> -> one.classId.shortClassName.asString()
            else -> "-"
        }
        if (there == null || source == null) out.println("$path\t$at\t-\t-\t-")
        else out.println("$path\t$at\t$there\t${source.startOffset}\t$word")
    }
}
