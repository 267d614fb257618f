// Checks and stores the content of a language pack, and appends the audit row, in the transaction of the caller.
import { isDeepStrictEqual } from 'node:util'
import type { AuditEvent } from '../../platform/audit/append.ts'
import { badRequest } from '../../platform/errors.ts'
import { checkEach } from '../../platform/inputs/fields.ts'
import { type KeyValuePair, checkPairs, findChangedPairs } from '../../platform/inputs/key-value-pairs.ts'
import type { Tx } from '../../platform/postgres/handles.ts'
import * as store from './language-packs.store.ts'
import { findKeyProblem } from './messages.pure.ts'

/** Returns a copy of the entries. Throws 400 if an entry breaks a rule. */
export function checkContent(pairs: readonly KeyValuePair[]): KeyValuePair[] {
  const content = checkPairs(pairs, 'content')
  const problem = findKeyProblem(content)
  if (problem === null) return content
  checkEach(content, rejectInvalidKey)
  throw badRequest(problem)
}

function rejectInvalidKey(pair: KeyValuePair): void {
  const problem = findKeyProblem([pair])
  if (problem !== null) throw badRequest(problem, 'Key')
}

/** Stores the content, and returns the pack with its audit events. Without a change, nothing is written. */
export async function writeContent(
  tx: Tx,
  before: store.PackWithContent,
  content: KeyValuePair[],
): Promise<{ pack: store.LanguagePack; events: AuditEvent[] }> {
  if (isDeepStrictEqual(before.content, content)) return { pack: before, events: [] }
  const pack = await store.updateContent(tx, before.id, content)
  return { pack, events: [createPackEvent('update', before, { ...pack, content })] }
}

const actionVerbs = { create: 'created', update: 'updated', delete: 'deleted' } as const

/** Builds the audit event for a change to a language pack. */
export function createPackEvent(
  action: keyof typeof actionVerbs,
  before: store.PackWithContent | null,
  after: store.PackWithContent | null,
): AuditEvent {
  const pack = (after ?? before) as store.PackWithContent
  const content = findChangedPairs('content', before?.content ?? [], after?.content ?? [])
  const fields = { ...content.before, ...content.after, id: '', name: '' }
  return {
    projectId: pack.projectId,
    entityType: 'languagePack',
    entityId: pack.id,
    action,
    description: `languagePack ${pack.name} ${actionVerbs[action]}`,
    classes: Object.fromEntries(Object.keys(fields).map((field) => [field, 'public' as const])),
    before: before && { id: before.id, name: before.name, ...content.before },
    after: after && { id: after.id, name: after.name, ...content.after },
  }
}
