import { type Document, isScalar, parseDocument, visit } from 'yaml'
import { Failure } from './failures.ts'

/** Parses YAML or JSON. Error messages start with `name`. Throws if the text has more than `maxAliasCount` aliases. */
export function parseYaml(
  text: string,
  { name, maxAliasCount }: { name: string; maxAliasCount: number },
): unknown {
  const document: Document = parseDocument(text)
  try {
    const [error] = document.errors
    if (error !== undefined) throw error
    rejectRewrittenKeys(document, name)
    return document.toJS({ maxAliasCount }) as unknown
  } catch (error) {
    if (error instanceof Failure) throw error
    // Omit the other lines of the message, because they quote the file.
    throw new Failure('usage', `${name} is not valid YAML: ${(error as Error).message.split('\n', 1)[0]}`)
  }
}

/** Rejects a key such as 1.10, which YAML parses as a number and converts to the key 1.1. */
function rejectRewrittenKeys(document: Document, name: string): void {
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && typeof key.value === 'number' && String(key.value) !== key.source)
        throw new Failure('usage', `${name}: the key ${key.source ?? ''} is a number; put it in quotes.`)
    },
  })
}
