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

/**
 * Runs the operations as every principal on both projects. A mutation that succeeds appends the audit rows it declares,
 * and whatever fails appends none.
 */
export async function runMatrix(
  service: TestApp,
  which: readonly Operation[] = operations,
): Promise<MatrixResult> {
  let world = await createMatrixWorld(service)
  const result: MatrixResult = { cases: 0, surprises: [] }
  const declared = new Map(
    service.app.fields.map(({ type, field, audited }) => [`${type}.${field}`, audited]),
  )
  const appended = await followAudit(service)
  for (const operation of which)
    for (const place of ['own', 'other'] as const)
      for (const principal of principals) {
        const target = world[place]
        const text = operation.text(target, await operation.make(world, target))
        const answer = await service.query(world.people[principal], text)
        const [wanted, got] = [expected(operation, principal, place), outcomeOf(operation, answer.error)]
        const rows = answer.error === null ? (declared.get(operation.name) ?? []) : []
        const call = { declared: rows, callerId: world.people[principal].id }
        const inTrail = auditSurprise(call, await appended())
        result.cases++
        const where = `${operation.name} as ${principal} in ${place}`
        if (wanted !== got) result.surprises.push(`${where}: ${got}, expected ${wanted}`)
        if (inTrail !== null) result.surprises.push(`${where}: ${inTrail}`)
        if (operation.consumes === true && got === 'ok') world = await createMatrixWorld(service)
      }
  return result
}
