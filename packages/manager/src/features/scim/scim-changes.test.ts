// Tests how people are changed and deleted over SCIM, and which bodies are refused.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { useProject } from '../../../test/kit/project.ts'
import { createScimClient, createScimToken, newUser } from '../../../test/kit/scim.ts'

const { service, admin } = useProject()
let token = ''
const scim = createScimClient(
  () => service,
  () => token,
)
beforeAll(async () => {
  token = (await createScimToken(service, admin)).token
})

const create = async (change: Record<string, unknown> = {}) => {
  const body = newUser(change)
  const answer = await scim.post(body)
  expect([answer.status, answer.body.detail]).toEqual([201, undefined])
  return { ...answer, id: answer.body.id as string, sent: body }
}
const stored = async (id: string) =>
  (await service.sql.query('select * from users where id = $1', [id])).rows[0] as Record<string, unknown>
const refusalOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body['scimType'],
]

describe('changing', () => {
  test('[scim.replace] PUT replaces the attributes, and what people see', async () => {
    const { id, sent } = await create({ emails: [{ value: 'old@example.com' }] })
    const { status, body, headers } = await scim.put(id, { userName: sent['userName'], displayName: 'New' })
    expect([status, body.displayName, body.emails, body.externalId, headers.get('etag')]).toEqual([
      200,
      'New',
      undefined,
      sent.externalId,
      'W/"2"',
    ])
    expect(await stored(id)).toMatchObject({ external_name: 'New', external_email: '' })
  })

  test('[scim.patch] PATCH changes single attributes; a change to the same value keeps the version', async () => {
    const { id } = await create()
    const patched = await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }])
    expect([patched.body.displayName, patched.headers.get('etag')]).toEqual(['X', 'W/"2"'])
    const same = await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }])
    expect([same.status, same.headers.get('etag')]).toEqual([200, 'W/"2"'])
  })

  test('[scim.etag] a change that is based on another version answers 412 and changes nothing', async () => {
    const { id, sent } = await create()
    const outdated = { 'if-match': 'W/"7"' }
    const answers = [
      await scim.put(id, { ...sent, displayName: 'X' }, outdated),
      await scim.patch(id, [{ op: 'replace', path: 'displayName', value: 'X' }], outdated),
      await scim.remove(id, outdated),
    ]
    expect(answers.map(({ status }) => status)).toEqual([412, 412, 412])
    expect((await scim.get(`/Users/${id}`)).headers.get('etag')).toBe('W/"1"')
    expect((await scim.put(id, { ...sent, displayName: 'X' }, { 'if-match': 'W/"1"' })).status).toBe(200)
    expect((await scim.remove(id, { 'if-match': '*' })).status).toBe(204)
  })

  test('[scim.subject] the subject cannot change to another UUID', async () => {
    const { id, sent } = await create()
    expect(refusalOf(await scim.put(id, { ...sent, externalId: randomUUID() }))).toEqual([400, 'mutability'])
    expect(refusalOf(await scim.patch(id, [{ op: 'remove', path: 'externalId' }]))).toEqual([
      400,
      'invalidValue',
    ])
  })

  test('[scim.delete] a deleted user is gone, and the same person can be created again', async () => {
    const { id, sent } = await create()
    expect(await scim.remove(id)).toMatchObject({ status: 204, body: null })
    expect((await scim.get(`/Users/${id}`)).status).toBe(404)
    expect(await stored(id)).toMatchObject({
      is_provisioned: false,
      deactivated_by_scim_at: expect.anything(),
    })
    expect((await scim.post(sent)).status).toBe(201)
    expect(await stored(id)).toMatchObject({ is_provisioned: true, deactivated_by_scim_at: null })
  })

  test('[scim.names-win] a sign-in overwrites neither the name nor the e-mail address, and writes nothing', async () => {
    const { id } = await create({ displayName: 'Managed', emails: [{ value: 'managed@example.com' }] })
    const before = await stored(id)
    for (let count = 0; count < 3; count++) {
      const { data } = await service.query(
        { id, name: 'Header', email: 'header@example.com' },
        '{ me { externalName externalEmail provisioned active } }',
      )
      expect(data.me).toEqual({
        externalName: 'Managed',
        externalEmail: 'managed@example.com',
        provisioned: true,
        active: true,
      })
    }
    expect(await stored(id)).toEqual(before)
    await scim.remove(id)
  })
})

describe('limits and errors', () => {
  test('[scim.errors] bodies that are not SCIM, and other media types, are refused', async () => {
    const send = (body: string, type: string) =>
      scim.send('POST', '/Users', { body, headers: { 'content-type': type } })
    const json = JSON.stringify(newUser())
    expect((await send(json, 'application/json')).status).toBe(201)
    expect((await send(json, 'text/plain')).status).toBe(415)
    expect((await send(json, 'application/scim+json; charset=latin1')).status).toBe(415)
    for (const body of ['{', '[]', '"x"', 'null', '{"__proto__": {}}'])
      expect(refusalOf(await send(body, 'application/scim+json'))).toEqual([400, 'invalidSyntax'])
    expect(
      (await send(JSON.stringify(newUser({ title: 'x'.repeat(70_000) })), 'application/scim+json')).status,
    ).toBe(413)
  })

  test('[scim.patch-limits] a hostile patch is refused before the row is locked', async () => {
    const { id } = await create()
    const client = await service.sql.connect()
    await client.query('begin')
    await client.query('select from users where id = $1 for update', [id])
    const many = Array.from({ length: 101 }, () => ({ op: 'replace', path: 'displayName', value: 'x' }))
    expect(refusalOf(await scim.patch(id, many))).toEqual([400, 'invalidValue'])
    expect(refusalOf(await scim.patch(id, [{ op: 'replace', path: 'emails[', value: 'x' }]))).toEqual([
      400,
      'invalidPath',
    ])
    await client.query('rollback')
    client.release()
  })
})
