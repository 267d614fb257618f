// Tests that mutations declare the audit rows that they append. Without a declaration, the service does not start. The
// matrix detects audit rows that differ from the declaration.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestApp, startTestApp } from '../kit/app.ts'
import { type AuditRow, auditSurprise } from './audited.ts'
import { runMatrix } from './matrix.ts'
import { operations } from './operations.ts'

let service: TestApp
beforeAll(async () => {
  service = await startTestApp()
})
afterAll(() => service.close())

const startWith = (from: string, to: string): Promise<TestApp> =>
  startTestApp({
    database: service.database,
    transport: { alterSdl: (sdl) => sdl.replaceAll(from, to) },
  })
/** Returns the unexpected outcomes that the matrix finds for one mutation. */
const surprisesOf = async (app: TestApp, name: string): Promise<string[]> => {
  const { cases, surprises } = await runMatrix(
    app,
    operations.filter((operation) => operation.name === `Mutation.${name}`),
  )
  expect(cases).toBeGreaterThan(0)
  return surprises
}

describe('declared audit rows', () => {
  test('a mutation that declares none, or a query that declares some, stops the boot and is named', async () => {
    await expect(startWith('@audited(as: ["tenant delete"])', '')).rejects.toThrow(
      /@audited.*: Mutation\.deleteTenant; the service does not start/,
    )
    await expect(
      startWith('@can(do: USER_LIST, in: SYSTEM)', '@can(do: USER_LIST, in: SYSTEM) @audited(as: [])'),
    ).rejects.toThrow(
      /@audited.*: Query\.users, Query\.usersConnection, Query\.user, .*; the service does not start/,
    )
  })

  test('the matrix notices a mutation without its row, and one with a row it does not declare', async () => {
    const plants: [string, string, string, RegExp][] = [
      // This mutation never appends an audit row. With a false declaration, it looks as if its audit row is missing.
      [
        'previewESBTransform',
        '@audited(as: [])',
        '@audited(as: ["endpoint update"])',
        /appended \[\] .*declared \[endpoint update\]/,
      ],
      [
        'updateTenant',
        '@audited(as: ["tenant update"])',
        '@audited(as: [])',
        /appended \[tenant update\] .*declared \[\]/,
      ],
      [
        'createProject',
        '"project create", "user2project grant"',
        '"project create"',
        /appended \[project create, user2project grant\]/,
      ],
    ]
    for (const [name, right, wrong, message] of plants) {
      const broken = await startWith(right, wrong)
      const surprises = await surprisesOf(broken, name)
      await broken.close()
      expect([name, surprises[0]]).toEqual([name, expect.stringMatching(message)])
    }
  })

  test('the matrix notices rows of another entity, of nobody, and of a call that was refused', async () => {
    // A trigger modifies the rows on insert, so that they do not match the declaration.
    const plants = [
      ["new.entity_type := 'application'; return new", /appended \[application update\]/],
      ['new.user_id := null; return new', /names another caller/],
      ["new.changes := '{}'; return new", /lists no change/],
    ] as const
    for (const [body, message] of plants) {
      await service.sql.query(`
        create or replace function plant() returns trigger language plpgsql as $$ begin ${body}; end $$;
        create or replace trigger plant before insert on audit_logs for each row execute function plant()`)
      const surprises = await surprisesOf(service, 'updateTenant')
      await service.sql.query('drop trigger plant on audit_logs')
      expect([body, surprises[0]]).toEqual([body, expect.stringMatching(message)])
    }
    expect(await surprisesOf(service, 'updateTenant')).toEqual([])
    const row: AuditRow = { user_id: 'a', entity_type: 'tenant', action: 'update', changes: {} }
    expect(auditSurprise({ declared: [], callerId: 'a' }, [row])).toMatch(/appended \[tenant update\]/)
  })

  test('a row that names a column nobody classified is noticed', () => {
    const call = { declared: ['tenant update'], callerId: 'a' }
    const rowWith = (column: string, entity_type = 'tenant'): AuditRow => ({
      user_id: 'a',
      entity_type,
      action: 'update',
      changes: { [column]: { before: null, after: '[secret]' } },
    })
    expect(auditSurprise(call, [rowWith('contact')])).toBe(
      'the tenant row contains contact, which is not classified',
    )
    const secret = { ...call, declared: ['endpoint update'] }
    expect(auditSurprise(secret, [rowWith('authToken', 'endpoint')])).toBeNull()
  })
})
