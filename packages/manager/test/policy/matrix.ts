// Runs the authorization matrix: every guarded operation, as every kind of principal, on objects in their own project
// and in a different project.
import type { TestApp } from '../kit/app.ts'
import { auditSurprise, followAudit } from './audited.ts'
import type { Operation } from './operation.ts'
import { operations } from './operations.ts'
import { type Principal, principals, seenBy } from './principals.ts'
import { createMatrixWorld } from './world.ts'

type Outcome = 'ok' | 'forbidden' | 'not found' | `other: ${string}`

/** Returns the outcome that the documented rules prescribe. */
export function expected(operation: Operation, principal: Principal, projectKind: 'own' | 'other'): Outcome {
  if (operation.scope === 'system') return operation.allow.includes(principal) ? 'ok' : 'forbidden'
  if (principal === 'administrator') return 'ok'
  // In the other project, only its owner has a role.
  const effectiveRole = projectKind === 'own' ? principal : principal === 'other owner' ? 'owner' : 'stranger'
  if (operation.allow.includes(effectiveRole)) return 'ok'
  return seenBy[operation.scope].includes(effectiveRole) ? 'forbidden' : 'not found'
}

function outcomeOf(operation: Operation, error: string | null): Outcome {
  if (error === null) return 'ok'
  if (operation.alwaysFailsWith?.test(error) === true) return 'ok'
  if (error.endsWith('not found')) return 'not found'
  return error.startsWith('not permitted') ? 'forbidden' : `other: ${error}`
}

export type MatrixResult = { cases: number; surprises: string[] }

type Case = { operation: Operation; projectKind: 'own' | 'other'; principal: Principal }
export const projectKinds = ['own', 'other'] as const

/**
 * Runs the operations as every principal on both projects. A successful mutation must append the audit rows that it
 * declares. A query or a failed mutation must append none.
 */
export async function runMatrix(
  service: TestApp,
  which: readonly Operation[] = operations,
): Promise<MatrixResult> {
  const matrix = await createMatrix(service)
  for (const operation of which) {
    const cases = projectKinds.flatMap((projectKind) =>
      principals.map((principal): Case => ({ operation, projectKind, principal })),
    )
    const isWrite = (one: Case): boolean =>
      operation.name.startsWith('Mutation.') && expected(operation, one.principal, one.projectKind) === 'ok'
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
  const nameOf = (one: Case): string => `${one.operation.name} as ${one.principal} in ${one.projectKind}`

  /** Makes one call, and records its outcome if it differs from the expected one. */
  async function call(one: Case, text: string): Promise<{ isOk: boolean; error: string | null }> {
    const { error } = await service.query(world.people[one.principal], text)
    const wanted = expected(one.operation, one.principal, one.projectKind)
    const got = outcomeOf(one.operation, error)
    result.cases++
    if (wanted !== got) result.surprises.push(`${nameOf(one)}: ${got}, expected ${wanted}`)
    return { isOk: got === 'ok', error }
  }

  /** Runs calls that must not change anything concurrently on one object, and then reads the audit trail once. */
  async function tryTogether(cases: readonly Case[]): Promise<void> {
    const [first] = cases
    if (first === undefined) return
    const { operation } = first
    const objectIds = { own: '', other: '' }
    for (const projectKind of projectKinds)
      objectIds[projectKind] = await operation.make(world, world[projectKind])
    const answers = await Promise.all(
      cases.map((one) => call(one, operation.text(world[one.projectKind], objectIds[one.projectKind]))),
    )
    for (const { user_id, entity_type, action } of await appended()) {
      const one = cases.find(({ principal }) => world.people[principal].id === user_id) ?? first
      result.surprises.push(`${nameOf(one)}: appended [${entity_type} ${action}] to the audit trail`)
    }
    if (operation.consumes === true && answers.some(({ isOk }) => isOk))
      world = await createMatrixWorld(service)
  }

  /** Runs a permitted mutation on a separate object, and then reads the audit trail. */
  async function tryWrite(one: Case): Promise<void> {
    const { operation, projectKind, principal } = one
    const target = world[projectKind]
    const { isOk, error } = await call(one, operation.text(target, await operation.make(world, target)))
    const rows = error === null ? (declared.get(operation.name) ?? []) : []
    const caller = { declared: rows, callerId: world.people[principal].id }
    const inTrail = auditSurprise(caller, await appended())
    if (inTrail !== null) result.surprises.push(`${nameOf(one)}: ${inTrail}`)
    if (operation.consumes === true && isOk) world = await createMatrixWorld(service)
  }

  return { result, tryTogether, tryWrite }
}
