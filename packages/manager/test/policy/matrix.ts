// The authorization matrix: every guarded operation, as every kind of principal, on things of their own project and of
// another one.
import type { TestApp } from '../kit/app.ts'
import { auditSurprise, followAudit } from './audited.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { type Principal, principals, seenBy } from './principals.ts'
import { createMatrixWorld } from './world.ts'

type Outcome = 'ok' | 'forbidden' | 'not found' | `other: ${string}`

function expected(operation: Operation, principal: Principal, place: 'own' | 'other'): Outcome {
  if (operation.scope === 'system') return operation.allow.includes(principal) ? 'ok' : 'forbidden'
  if (principal === 'administrator') return 'ok'
  // In the other project its owner is the owner, and everybody else a stranger.
  const standing = place === 'own' ? principal : principal === 'other owner' ? 'owner' : 'stranger'
  if (operation.allow.includes(standing)) return 'ok'
  return seenBy[operation.scope].includes(standing) ? 'forbidden' : 'not found'
}

function outcomeOf(operation: Operation, error: string | null): Outcome {
  if (error === null) return 'ok'
  if (operation.errs?.test(error) === true) return 'ok'
  if (error.endsWith('not found')) return 'not found'
  return error.startsWith('not permitted') ? 'forbidden' : `other: ${error}`
}

export type MatrixResult = { cases: number; surprises: string[] }

type Case = { operation: Operation; place: 'own' | 'other'; principal: Principal }
const placeNames = ['own', 'other'] as const

/**
 * Runs the operations as every principal on both projects. A mutation that succeeds appends the audit rows it declares,
 * and a query or a failed mutation appends none.
 */
export async function runMatrix(
  service: TestApp,
  which: readonly Operation[] = operations,
): Promise<MatrixResult> {
  const matrix = await createMatrix(service)
  for (const operation of which) {
    const cases = placeNames.flatMap((place) =>
      principals.map((principal): Case => ({ operation, place, principal })),
    )
    const isWrite = (one: Case): boolean =>
      operation.name.startsWith('Mutation.') && expected(operation, one.principal, one.place) === 'ok'
    await matrix.tryTogether(cases.filter((one) => !isWrite(one)))
    for (const one of cases.filter(isWrite)) await matrix.tryWrite(one)
  }
  return matrix.result
}

async function createMatrix(service: TestApp) {
  const result: MatrixResult = { cases: 0, surprises: [] }
  const declared = new Map(
    service.app.fields.map(({ type, field, audited }) => [`${type}.${field}`, audited]),
  )
  const appended = await followAudit(service)
  let world = await createMatrixWorld(service)
  const nameOf = (one: Case): string => `${one.operation.name} as ${one.principal} in ${one.place}`

  /** Makes one call and notes an outcome that differs from the expected one. */
  async function call(one: Case, text: string): Promise<{ isOk: boolean; error: string | null }> {
    const { error } = await service.query(world.people[one.principal], text)
    const wanted = expected(one.operation, one.principal, one.place)
    const got = outcomeOf(one.operation, error)
    result.cases++
    if (wanted !== got) result.surprises.push(`${nameOf(one)}: ${got}, expected ${wanted}`)
    return { isOk: got === 'ok', error }
  }

  /** Calls that must change nothing run concurrently on one thing, and the trail is read once after them. */
  async function tryTogether(cases: readonly Case[]): Promise<void> {
    const [first] = cases
    if (first === undefined) return
    const { operation } = first
    const things = { own: '', other: '' }
    for (const place of placeNames) things[place] = await operation.make(world, world[place])
    const answers = await Promise.all(
      cases.map((one) => call(one, operation.text(world[one.place], things[one.place]))),
    )
    for (const { user_id, entity_type, action } of await appended()) {
      const one = cases.find(({ principal }) => world.people[principal].id === user_id) ?? first
      result.surprises.push(`${nameOf(one)}: appended [${entity_type} ${action}] to the audit trail`)
    }
    if (operation.consumes === true && answers.some(({ isOk }) => isOk))
      world = await createMatrixWorld(service)
  }

  /** A permitted mutation runs on a thing made for it alone, and the trail is read after it. */
  async function tryWrite(one: Case): Promise<void> {
    const { operation, place, principal } = one
    const target = world[place]
    const { isOk, error } = await call(one, operation.text(target, await operation.make(world, target)))
    const rows = error === null ? (declared.get(operation.name) ?? []) : []
    const caller = { declared: rows, callerId: world.people[principal].id }
    const inTrail = auditSurprise(caller, await appended())
    if (inTrail !== null) result.surprises.push(`${nameOf(one)}: ${inTrail}`)
    if (operation.consumes === true && isOk) world = await createMatrixWorld(service)
  }

  return { result, tryTogether, tryWrite }
}
