// Tests the state of a project's audit chain as maintainers see it.
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedMember, seedProject, seedUser } from '@manager/harness/seed.ts'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { runSchedule } from '../../../test/kit/schedules.ts'
import { appendRows, sealAll, tamper } from '../../../test/kit/trail.ts'

let service: TestApp
let admin: Person
let project: SeededProject
let count = 0
beforeAll(async () => {
  service = await startTestApp()
  admin = await seedUser(service.sql, 'admin', 'administrator')
})
afterAll(() => service.close())
beforeEach(async () => {
  project = await seedProject(service.sql, `chain-${++count}`)
})

const timestamp = expect.stringMatching(/^\d{4}-.*Z$/)
const read = async (caller: Person = admin, projectId = project.id) => {
  const { data, error } = await service.query(
    caller,
    `query($projectId: ID!) { chain: auditChain(projectId: $projectId) {
      status entries verifiedSeq verifiedAt firstBrokenSeq reason checkpointAt } }`,
    { projectId },
  )
  return { chain: data?.chain ?? null, error }
}
const verify = async () => {
  await sealAll(service)
  await runSchedule(service, 'audit-verify')
}

test('the chain of a project without entries is empty', async () => {
  expect((await read()).chain).toMatchObject({
    status: 'empty',
    entries: 0,
    verifiedSeq: 0,
    checkpointAt: null,
  })
})

test('the state follows the verification, and reading it verifies nothing', async () => {
  await appendRows(service, project.id, 3)
  expect((await read()).chain).toMatchObject({
    status: 'unverified',
    entries: 3,
    verifiedSeq: 0,
    reason: null,
  })
  await verify()
  const verified = {
    status: 'ok',
    entries: 3,
    verifiedSeq: 3,
    verifiedAt: timestamp,
    firstBrokenSeq: null,
    reason: null,
    checkpointAt: timestamp,
  }
  expect((await read()).chain).toEqual(verified)
  await appendRows(service, project.id, 2)
  expect((await read()).chain).toEqual({ ...verified, entries: 5 })
  service.statements.length = 0
  await read()
  expect(service.statements.filter((text) => text.includes('audit_logs'))).toEqual([])
})

test('a changed entry is reported once the verification has found it', async () => {
  await appendRows(service, project.id, 4)
  await tamper(
    service,
    `update audit_logs set description = 'x' where chain_id = '${project.id}' and seq = 3`,
  )
  expect((await read()).chain).toMatchObject({ status: 'unverified' })
  await verify()
  expect((await read()).chain).toMatchObject({
    status: 'broken',
    entries: 4,
    verifiedSeq: 2,
    firstBrokenSeq: 3,
    reason: 'row 3 was changed',
  })
})

test('removed entries and a changed mark are reported immediately', async () => {
  await appendRows(service, project.id, 4)
  await verify()
  await service.sql.query('update audit_chains set seq = 2, checkpointed_seq = 2 where chain_id = $1', [
    project.id,
  ])
  expect((await read()).chain).toMatchObject({
    status: 'broken',
    firstBrokenSeq: 3,
    reason: '4 entries were verified, but the chain has only 2',
  })
  await service.sql.query('update audit_chains set seq = 4 where chain_id = $1', [project.id])
  await service.sql.query("update audit_verified_chains set seq = 9 where chain_id = $1 and pass = 'new'", [
    project.id,
  ])
  expect((await read()).chain).toMatchObject({
    status: 'broken',
    verifiedSeq: 0,
    firstBrokenSeq: null,
    reason: `the verification mark of chain ${project.id} was changed in the database`,
  })
})

test('only maintainers of the project read the state', async () => {
  const people = await Promise.all(
    ['maintainer', 'developer', 'stranger', 'owner'].map((name) => seedUser(service.sql, name)),
  )
  const [maintainer, developer, stranger, foreigner] = people as [Person, Person, Person, Person]
  await seedMember(service.sql, maintainer, 'maintainer', { projectId: project.id })
  await seedMember(service.sql, developer, 'developer', { projectId: project.id })
  const other = await seedProject(service.sql, `chain-${++count}`)
  await seedMember(service.sql, foreigner, 'owner', { projectId: other.id })
  expect((await read(maintainer)).chain).toMatchObject({ status: 'empty' })
  expect((await read(developer)).error).toContain('not permitted')
  for (const caller of [stranger, foreigner]) expect((await read(caller)).error).toBe('project not found')
  expect((await read(admin, 'nothing')).error).toBe('project not found')
})
