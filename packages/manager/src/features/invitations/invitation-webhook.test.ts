// The webhook receives the link of each invitation, signed. A failed call does not affect the invitation.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { Webhook } from 'standardwebhooks'
import { type TestApp, startTestApp } from '../../../test/kit/app.ts'
import { invitationCalls, tokenOf } from '../../../test/kit/invitations.ts'
import { type Upstream, startUpstream } from '../../../test/kit/upstream.ts'
import { createWebhookSecret } from '../../platform/outbound/webhook-signature.ts'
import type { Person } from '@manager/harness/callers.ts'
import { type SeededProject, seedProject, seedUser } from '@manager/harness/seed.ts'

const secret = createWebhookSecret()
let receiver: Upstream
let service: TestApp
let admin: Person
let project: SeededProject
const { invite, preview } = invitationCalls(() => service)

const startWith = (url: string, env: Record<string, string> = {}): Promise<TestApp> =>
  startTestApp({
    env: {
      SVC_INVITATIONS_WEBHOOK_URL: url,
      SVC_INVITATIONS_WEBHOOK_SECRET: secret,
      SVC_INVITATIONS_WEBHOOK_TIMEOUT: '10s',
      ...env,
    },
  })

beforeAll(async () => {
  receiver = await startUpstream()
  service = await startWith(`${receiver.url}/hooks/invitations`)
  admin = await seedUser(service.sql, 'admin', 'administrator')
  project = await seedProject(service.sql, 'main')
})
afterAll(async () => {
  await service.close()
  await receiver.close()
})
beforeEach(() => receiver.reset())

const inviteGuest = () => invite(admin, 'project', project.id, { email: 'guest@example.com', role: 'tester' })

describe('the webhook', () => {
  test('[invitations.webhook] receives a signed message with the link of the invitation', async () => {
    const { data } = await inviteGuest()
    const { link, delivery, invitation } = data.created
    expect(delivery).toBe('DELIVERED')
    expect(receiver.received).toHaveLength(1)
    const [{ method, url, headers, body }] = receiver.received as [(typeof receiver.received)[number]]
    expect([method, url, headers['content-type']]).toEqual(['POST', '/hooks/invitations', 'application/json'])
    expect(headers['webhook-id']).toBe(invitation.id)
    const message = new Webhook(secret).verify(body.toString(), headers as Record<string, string>)
    expect(message).toEqual({
      type: 'invitation.created',
      timestamp: expect.any(String),
      data: {
        id: invitation.id,
        email: 'guest@example.com',
        link,
        role: 'tester',
        expires_at: expect.any(String),
        project: { id: project.id, name: 'Project main', slug: 'main' },
        tenant: null,
        application: null,
        invited_by: { name: 'admin', email: 'admin@example.com' },
      },
    })
    expect(() =>
      new Webhook(createWebhookSecret()).verify(body.toString(), headers as Record<string, string>),
    ).toThrow()
  })

  test('[invitations.webhook] names the tenant or the application', async () => {
    const email = 'guest@example.com'
    await invite(admin, 'tenant', project.tenantId, { email, role: 'member' })
    await invite(admin, 'application', project.applicationId, { email, role: 'normal' })
    const messages = receiver.received.map(
      ({ body }) => (JSON.parse(body.toString()) as { data: Record<string, unknown> }).data,
    )
    const slug = 'main-tenant'
    expect(messages[0]).toMatchObject({ tenant: { id: project.tenantId, name: slug, slug } })
    expect(messages[1]).toMatchObject({ tenant: null, application: { id: project.applicationId } })
  })

  test('[invitations.webhook-failure] a second attempt has the same id and body', async () => {
    let calls = 0
    receiver.answer((_request, response) => {
      response.statusCode = ++calls === 1 ? 503 : 204
      response.end()
    })
    expect((await inviteGuest()).data.created.delivery).toBe('DELIVERED')
    expect(receiver.received).toHaveLength(2)
    const [first, second] = receiver.received
    expect(second?.body).toEqual(first?.body)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
  })

  test('[invitations.webhook-failure] only failures that can pass are repeated, and only once', async () => {
    for (const [status, attempts] of [
      [301, 1],
      [400, 1],
      [429, 1],
      [500, 2],
      [503, 2],
    ] as const) {
      receiver.reset()
      receiver.answer((_request, response) => {
        response.statusCode = status
        response.end()
      })
      expect([status, (await inviteGuest()).data.created.delivery]).toEqual([status, 'FAILED'])
      expect([status, receiver.received.length]).toEqual([status, attempts])
    }
    receiver.reset()
    let calls = 0
    receiver.answer((request, response) => {
      if (++calls === 1) request.socket.destroy()
      else response.end()
    })
    expect((await inviteGuest()).data.created.delivery).toBe('DELIVERED')
  })

  test('[invitations.webhook-failure] after a refusal, the invitation works and the log does not contain the link', async () => {
    receiver.answer((_request, response) => {
      response.statusCode = 302
      response.setHeader('location', `${receiver.url}/elsewhere`)
      response.end()
    })
    const { data, error } = await inviteGuest()
    expect([error, data.created.delivery]).toEqual([null, 'FAILED'])
    expect(receiver.received).toHaveLength(1)
    const token = tokenOf(data.created.link)
    expect((await preview({ ...admin, email: 'guest@example.com' }, token)).error).toBeNull()
    expect(service.logLines).toContainEqual(
      expect.objectContaining({
        invitation: data.created.invitation.id,
        failure: 'the webhook returned 302',
        msg: 'could not deliver an invitation to the webhook',
      }),
    )
    expect(JSON.stringify(service.logLines)).not.toContain(token)
  })

  test('[invitations.webhook-failure] is not called for an invitation that is refused', async () => {
    const stranger = await seedUser(service.sql, 'stranger')
    await invite(stranger, 'project', project.id, { email: 'a@example.com', role: 'tester' })
    await invite(admin, 'project', project.id, { email: 'nobody', role: 'tester' })
    expect(receiver.received).toEqual([])
  })
})

test('[invitations.webhook-failure] a webhook that hangs, or whose address is forbidden, does not fail the invitation', async () => {
  const hanging = await startUpstream()
  hanging.answer(() => undefined)
  const cases = [
    // A machine under load may not even connect within the timeout.
    [`${hanging.url}/`, '300ms', expect.stringMatching(/^the upstream (?:timed out|cannot be reached)$/)],
    ['http://169.254.169.254/latest', '10s', 'the address of the upstream is not allowed'],
  ] as const
  for (const [url, timeout, failure] of cases) {
    const isolated = await startWith(url, { SVC_INVITATIONS_WEBHOOK_TIMEOUT: timeout })
    const caller = await seedUser(isolated.sql, 'admin', 'administrator')
    const { id } = await seedProject(isolated.sql, 'main')
    const { data, error } = await isolated.query(
      caller,
      `mutation { created: inviteToProject(projectID: "${id}", input: {email: "a@example.com", role: "tester"}) {
        link delivery } }`,
    )
    expect([url, error, data.created]).toEqual([
      url,
      null,
      { link: expect.stringContaining('#inv_'), delivery: 'FAILED' },
    ])
    expect(isolated.logLines).toContainEqual(expect.objectContaining({ failure }))
    await isolated.close()
  }
  await hanging.close()
})

test('the database of the Manager is not called', async () => {
  const { hostname, port } = new URL(service.database.url)
  const isolated = await startWith(`http://${hostname}:${port === '' ? '5432' : port}/`)
  const caller = await seedUser(isolated.sql, 'admin', 'administrator')
  const { id } = await seedProject(isolated.sql, 'main')
  const { data } = await isolated.query(
    caller,
    `mutation { created: inviteToProject(projectID: "${id}", input: {email: "a@example.com", role: "tester"}) {
      delivery } }`,
  )
  expect(data.created.delivery).toBe('FAILED')
  expect(isolated.logLines).toContainEqual(
    expect.objectContaining({ failure: 'the address of the upstream is not allowed' }),
  )
  await isolated.close()
})

test('a URL without a secret, a weak secret, and a default above the maximum stop the start', async () => {
  const start = (env: Record<string, string | undefined>) => startTestApp({ env, database: service.database })
  await expect(start({ SVC_INVITATIONS_WEBHOOK_URL: 'https://mail.example.com/' })).rejects.toThrow(
    'set both invitations.webhook_url and invitations.webhook_secret',
  )
  await expect(start({ SVC_INVITATIONS_WEBHOOK_SECRET: 'whsec_short' })).rejects.toThrow(
    'SVC_INVITATIONS_WEBHOOK_SECRET must be whsec_ and the base64 of 32 bytes',
  )
  // The console waits for at most 30 s.
  await expect(start({ SVC_INVITATIONS_WEBHOOK_TIMEOUT: '11s' })).rejects.toThrow(
    'SVC_INVITATIONS_WEBHOOK_TIMEOUT must be',
  )
  await expect(start({ SVC_INVITATIONS_DEFAULT_DAYS: '31' })).rejects.toThrow(
    'invitations.default_days must not be greater than invitations.max_days',
  )
})
