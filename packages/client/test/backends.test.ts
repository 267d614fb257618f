// Tests registrations, heartbeats and callbacks against the real service, which calls a real server back.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { type TriggerScene, startTriggerScene } from '../../manager/test/kit/callbacks.ts'
import { seedMachineUser } from '@manager/harness/seed.ts'
import {
  type BackendOptions,
  type Callback,
  CallbackError,
  type Connection,
  type IncomingCallback,
  type Registration,
  connect,
  registerBackend,
  verifyCallback,
} from '../src/index.ts'

let scene: TriggerScene
let connection: Connection
let token: string
/** The requests to the callback URL, and the results of their verification. */
let received: IncomingCallback[]
let verified: (Callback | CallbackError)[]
let registration: Registration
const closing: Registration[] = []

const server = createServer((request, response) => {
  const answer = async (): Promise<number> => {
    const incoming = { headers: request.headers, body: await text(request) }
    received.push(incoming)
    try {
      verified.push(await registration.verify(incoming))
      return 204
    } catch (error) {
      verified.push(error as CallbackError)
      return (error as CallbackError).status
    }
  }
  void answer().then((status) => response.writeHead(status).end())
})
const callbackUrl = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}/callbacks`

beforeAll(async () => {
  scene = await startTriggerScene()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})
beforeEach(async () => {
  ;[received, verified] = [[], []]
  ;({ token } = await seedMachineUser(scene.service.sql, scene.project))
  connection = connect({ url: scene.service.url, token })
  return async () => {
    for (const one of closing.splice(0)) await one.close()
  }
})
afterAll(async () => {
  server.close()
  await scene.close()
})

/** Registers the server of this file. It is unregistered after the test. */
async function register(options: Partial<BackendOptions> = {}): Promise<Registration> {
  registration = await registerBackend(connection, {
    applicationId: scene.project.applicationId,
    callbackUrl: callbackUrl(),
    heartbeatMs: 3_600_000,
    ...options,
  })
  closing.push(registration)
  return registration
}
/** Fires a trigger and delivers its due callbacks. */
async function fire(): Promise<string> {
  const { id } = await scene.createTrigger({ name: 'nightly', cronExpression: '@yearly', runKey: 'night' })
  await scene.makeDue(id)
  await scene.plan()
  await scene.deliver()
  return id
}
const rowOf = async (id: string) => {
  const { rows } = await scene.service.sql.query<{ version: string; callback_url: string; beat: string }>(
    'select version, callback_url, last_heartbeat::text as beat from backend_registrations where id = $1',
    [id],
  )
  return rows[0]
}
const forget = (id: string) =>
  scene.service.sql.query('delete from backend_registrations where id = $1', [id])

describe('a registration', () => {
  test('is made with what it was given, and is gone after close, which may be called twice', async () => {
    const { id, close } = await register({ version: '1.4.2' })
    expect(await rowOf(id)).toMatchObject({ version: '1.4.2', callback_url: callbackUrl() })
    await close()
    expect(await rowOf(id)).toBeUndefined()
    await close()
  })

  test('is refused with the message of the Manager, the rule behind it, and the setting that allows it', async () => {
    await expect(register({ callbackUrl: 'http://169.254.169.254/' })).rejects.toMatchObject({
      name: 'ResponseError',
      status: 400,
      code: 'bad_request',
      message: 'Invalid callback_url: the host is a metadata service, which is never allowed',
      body: { success: false, message: 'Invalid callback_url' },
    })
    await expect(register({ callbackUrl: 'http://10.1.2.3/' })).rejects.toThrow(
      'Invalid callback_url: the host is a private address, which is allowed only if callbacks.allowed_cidrs (SVC_CALLBACKS_ALLOWED_CIDRS) contains its network',
    )
    const applicationId = '01a1e1f0-0000-7000-8000-000000000000'
    await expect(register({ applicationId })).rejects.toMatchObject({ status: 404 })
  })

  test('gets heartbeats', async () => {
    const { id } = await register({ heartbeatMs: 10 })
    const first = (await rowOf(id))?.beat
    await expect.poll(async () => (await rowOf(id))?.beat).not.toBe(first)
  })

  test('that the Manager has removed is made again by the next heartbeat', async () => {
    const made = await register({ heartbeatMs: 10 })
    const first = made.id
    await forget(first)
    await expect.poll(() => made.id).not.toBe(first)
    expect(await rowOf(made.id)).toMatchObject({ callback_url: callbackUrl() })
  })

  test('is not made again after another failure, which is told, and the heartbeats go on', async () => {
    const onError = vi.fn<(error: unknown) => void>()
    const { id } = await register({ heartbeatMs: 10, onError })
    const disable = 'update machine_users set enabled = $2 where token_hash = sha256($1::bytea)'
    await scene.service.sql.query(disable, [token, false])
    await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(1)
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ status: 401 })
    await scene.service.sql.query(disable, [token, true])
    const before = (await rowOf(id))?.beat
    await expect.poll(async () => (await rowOf(id))?.beat).not.toBe(before)
    expect(registration.id).toBe(id)
  })

  test.each([401, 403, 429, 500, 503])(
    'is not made again when a heartbeat is answered %i',
    async (status) => {
      const sent: string[] = []
      connection = connect({
        url: scene.service.url,
        token,
        fetch: (url, init) => {
          sent.push(init?.method ?? '')
          return init?.method === 'PUT' ? Promise.resolve(new Response('{}', { status })) : fetch(url, init)
        },
      })
      await register({ heartbeatMs: 5 })
      await expect.poll(() => sent.length).toBeGreaterThan(3)
      expect(sent.filter((method) => method === 'POST')).toHaveLength(1)
    },
  )

  test('ends its heartbeats when its signal fires, and stays', async () => {
    const ending = new AbortController()
    const beats = { ended: 0, other: 0 }
    const counting = (name: keyof typeof beats) =>
      connect({
        url: scene.service.url,
        token,
        fetch: (...args) => {
          beats[name] += 1
          return fetch(...args)
        },
      })
    const options = { applicationId: scene.project.applicationId, callbackUrl: callbackUrl(), heartbeatMs: 5 }
    const ended = await registerBackend(counting('ended'), { ...options, signal: ending.signal })
    closing.push(ended, await registerBackend(counting('other'), options))
    await expect.poll(() => beats.ended).toBeGreaterThan(2)
    ending.abort()
    const { ended: before, other } = beats
    await expect.poll(() => beats.other).toBeGreaterThan(other + 4)
    expect(beats.ended).toBe(before)
    expect(await rowOf(ended.id)).toBeDefined()
  })
})

describe('a callback', () => {
  test('of a trigger is verified, and says what it is about', async () => {
    await register()
    const triggerId = await fire()
    const [run] = await scene.runsOf(triggerId)
    expect(run?.outcome).toBe('delivered')
    expect(verified).toEqual([
      {
        id: run?.id,
        attempt: 1,
        scheduledAt: run?.scheduled_at.toISOString(),
        triggerId,
        triggerName: 'nightly',
        cronExpression: '@yearly',
        runKey: 'night',
        executedAt: expect.any(String),
      },
    ])
  })

  test('that was signed with the former token is verified, one of the token before that is not', async () => {
    const made = await register({ heartbeatMs: 10 })
    await fire()
    const again = async (): Promise<void> => {
      const { id } = made
      await forget(id)
      await expect.poll(() => made.id).not.toBe(id)
    }
    await again()
    const [first] = received
    expect(await made.verify(first as IncomingCallback)).toEqual(verified[0])
    await again()
    await expect(made.verify(first as IncomingCallback)).rejects.toThrow(CallbackError)
  })

  test('of a token that is not known asks for another attempt, which succeeds: it was registered again', async () => {
    const made = await register({ heartbeatMs: 50 })
    const other = await registerBackend(connection, {
      applicationId: scene.project.applicationId,
      callbackUrl: callbackUrl(),
      heartbeatMs: 3_600_000,
    })
    closing.push(other)
    expect(other.id).toBe(made.id)
    const tokenOf = async (): Promise<string> => {
      const { rows } = await scene.service.sql.query('select * from backend_registrations where id = $1', [
        made.id,
      ])
      return JSON.stringify({ ...rows[0], last_heartbeat: null })
    }
    const before = await tokenOf()
    const triggerId = await fire()
    expect(verified).toMatchObject([{ name: 'CallbackError', status: 503 }])
    await expect.poll(tokenOf).not.toBe(before)
    await scene.skipWaits()
    await scene.deliver()
    expect(verified[1]).toMatchObject({ triggerId, attempt: 2 })
    expect(await scene.runsOf(triggerId)).toMatchObject([{ outcome: 'delivered', attempts: 2 }])
  })

  test('that is forged, changed or old is refused', async () => {
    const made = await register()
    await fire()
    const incoming = received[0] as { headers: Record<string, string>; body: string }
    const headersWith = (changes: Record<string, string>) => ({ ...incoming.headers, ...changes })
    const old = String(Math.floor(Date.now() / 1_000) - 301)
    const wrong: IncomingCallback[] = [
      { ...incoming, body: incoming.body.replace('night', 'pirates') },
      { ...incoming, headers: headersWith({ 'webhook-id': 'other' }) },
      { ...incoming, headers: headersWith({ 'webhook-timestamp': old }) },
      { ...incoming, headers: headersWith({ 'webhook-timestamp': 'now' }) },
      { ...incoming, headers: headersWith({ 'webhook-signature': 'v1,AAAA' }) },
      { ...incoming, headers: headersWith({ 'webhook-signature': 'v1,!' }) },
      { ...incoming, headers: headersWith({ authorization: 'Bearer whsec_AAAA' }) },
      { ...incoming, headers: headersWith({ authorization: '' }) },
      { headers: {}, body: '' },
    ]
    for (const one of wrong) await expect(made.verify(one)).rejects.toMatchObject({ status: 401 })
    const large = { ...incoming, body: 'x'.repeat(70_000) }
    await expect(made.verify(large)).rejects.toMatchObject({ status: 413 })
    expect(await made.verify(incoming)).toEqual(verified[0])
  })

  test('that is signed with its own token alone is not verified, and asks for another attempt', async () => {
    const made = await register()
    await fire()
    const incoming = received[0] as { headers: Record<string, string>; body: string }
    const [bySecret, byToken, ...more] = incoming.headers['webhook-signature']?.split(' ') ?? []
    expect(more).toEqual([])
    const signedBy = (signature = '') => ({
      ...incoming,
      headers: { ...incoming.headers, 'webhook-signature': signature },
    })
    expect(await made.verify(signedBy(bySecret))).toEqual(verified[0])
    await expect(made.verify(signedBy(byToken))).rejects.toMatchObject({ status: 503 })
  })

  test('is verified by hand, with headers and bytes as other servers give them', async () => {
    await register()
    await fire()
    const incoming = received[0] as { headers: Record<string, string>; body: string }
    const callbackToken = (incoming.headers['authorization'] ?? '').slice('Bearer '.length)
    const body = new TextEncoder().encode(incoming.body)
    const headers = new Headers(incoming.headers)
    // Standard Webhooks allows several signatures in the header.
    headers.set('webhook-signature', `v1a,x v1,AAAA ${headers.get('webhook-signature') ?? ''}`)
    for (const form of [body, body.buffer, incoming.body])
      expect(await verifyCallback(['whsec_AAAA', callbackToken], { headers, body: form })).toEqual(
        verified[0],
      )
    const sentMs = Number(incoming.headers['webhook-timestamp']) * 1_000
    const at = (nowMs: number) => verifyCallback([callbackToken], { headers, body }, { nowMs })
    expect(await at(sentMs + 300_000)).toEqual(verified[0])
    await expect(at(sentMs + 300_001)).rejects.toThrow(
      'differs from the current time by more than five minutes',
    )
    await expect(at(sentMs - 300_001)).rejects.toThrow(
      'differs from the current time by more than five minutes',
    )
    await expect(verifyCallback([], { headers, body })).rejects.toThrow('not signed')
  })
})
