"""Names of methods of PHP's own classes. A table only."""

from __future__ import annotations

#: containers, iterators, files, PDO, documents, reflection and dates
PHP_METHODS = frozenset(
    (
        "accept asort attach attributes beginTransaction bindColumn bindParam bindValue children "
        "closeCursor columnCount current dequeue detach diff enqueue errorCode errorInfo "
        "exchangeArray extract fetch fetchAll fetchColumn fetchObject fflush fgetc fgetcsv fgets "
        "flock fpassthru fputcsv fread fseek ftell ftruncate fwrite getATime getArgs "
        "getArrayCopy getAttribute getAttributeNode getAttributes getBasename getCTime "
        "getChildren getClassMethods getCode getConstants getConstructor getDocComment "
        "getElementById getElementsByTagName getEndLine getExtension getFile getFileInfo "
        "getFileName getFilename getFlags getHash getInnerIterator getInode getIterator "
        "getLastErrors getLine getLinkTarget getMTime getMaxDepth getMessage getMethod "
        "getMethods getModifiers getName getNamespaceName getNamespaces getOffset getOwner "
        "getParameters getParentClass getPath getPathInfo getPathname getPerms getPrevious "
        "getProperties getProperty getRealPath getReturn getReturnType getShortName getSize "
        "getStartLine getTimestamp getTimezone getTrace getTraceAsString getType getValue "
        "hasAttribute hasChildNodes hasChildren hasMethod hasProperty implementsInterface "
        "importNode inTransaction insertBefore invoke invokeArgs isAbstract isDir isExecutable "
        "isFile isFinal isInstance isInstantiable isInterface isLink isReadable isSubclassOf "
        "isValid isWritable key ksort lastInsertId loadHTML loadXML modify natcasesort natsort "
        "newInstance newInstanceArgs newInstanceWithoutArgs nextRowset offsetExists offsetGet "
        "offsetSet offsetUnset openFile prepare query quote recoverFromCorruption "
        "registerXPathNamespace removeAll removeAllExcept removeAttribute removeChild "
        "replaceChild rewind rollBack rowCount saveHTML saveXML serialize setAccessible "
        "setAttribute setDate setExtractFlags setFetchMode setFlags setISODate setIteratorMode "
        "setMaxDepth setSize setStaticPropertyValue setTime setTimestamp setTimezone setValue "
        "shift throw toArray top uasort uksort unserialize unshift valid xpath"
    ).split()
)
