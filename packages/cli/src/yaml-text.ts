import { type Document, isScalar, parseDocument, visit } from 'yaml'
import { Failure } from './failures.ts'

/** The value of a text in YAML or JSON; `name` begins a refusal. Every alias beyond `maxAliasCount` is refused. */
export function parseYaml(
  text: string,
  { name, maxAliasCount }: { name: string; maxAliasCount: number },
): unknown {
  const document: Document = parseDocument(text)
  try {
    const [error] = document.errors
    if (error !== undefined) throw error
    refuseRewrittenKeys(document, name)
    return document.toJS({ maxAliasCount }) as unknown
  } catch (error) {
    if (error instanceof Failure) throw error
    // The other lines of the message quote the file.
    throw new Failure('usage', `${name} is not YAML: ${(error as Error).message.split('\n', 1)[0]}`)
  }
}

/** A key is a text in the end: 1.10 would become 1.1. */
function refuseRewrittenKeys(document: Document, name: string): void {
  visit(document, {
    Pair: (_key, { key }) => {
      if (isScalar(key) && typeof key.value === 'number' && String(key.value) !== key.source)
        throw new Failure('usage', `${name}: the key ${key.source ?? ''} is a number; put it in quotes.`)
    },
  })
}
