import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { createWebhookSecret, signWebhook } from './webhook-signature.ts'

const now = (): number => Math.floor(Date.now() / 1_000)
const headersOf = (id: string, timestamp: number, signature: string) => ({
  'webhook-id': id,
  'webhook-timestamp': String(timestamp),
  'webhook-signature': signature,
})

describe('a signature', () => {
  test('is the one of Standard Webhooks', () => {
    const token = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    const [id, at, text] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}']
    const expected = new Webhook(token).sign(id, new Date(at * 1_000), text)
    expect(signWebhook({ id, timestampSeconds: at, body: Buffer.from(text), token })).toBe(expected)
    expect(expected).toBe('v1,YO/ulmd+VFtlnbodv7yLOOsS6RlBZ48h++gXZrGOpZo=')
  })

  test('is accepted by its library for any body and token', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.json(), (id, text) => {
        const [token, timestampSeconds] = [createWebhookSecret(), now()]
        const signature = signWebhook({ id, timestampSeconds, body: Buffer.from(text), token })
        expect(new Webhook(token).verify(text, headersOf(id, timestampSeconds, signature))).toEqual(
          JSON.parse(text),
        )
      }),
    )
  })

  test('fits no other body, id, time or token', () => {
    const [id, timestampSeconds, text, token] = ['run', now(), '{"a":1}', createWebhookSecret()]
    const signature = signWebhook({ id, timestampSeconds, body: Buffer.from(text), token })
    const verify = (by: string, ...[body, headers]: [string, ReturnType<typeof headersOf>]) =>
      new Webhook(by).verify(body, headers)
    const headers = headersOf(id, timestampSeconds, signature)
    expect(verify(token, text, headers)).toEqual({ a: 1 })
    expect(() => verify(token, '{"a":2}', headers)).toThrow('No matching signature')
    expect(() => verify(token, text, headersOf('other', timestampSeconds, signature))).toThrow('No matching')
    expect(() => verify(token, text, headersOf(id, timestampSeconds - 1, signature))).toThrow('No matching')
    expect(() => verify(createWebhookSecret(), text, headers)).toThrow('No matching signature')
  })
})

describe('a token', () => {
  test('is 32 random bytes in base64, which a bearer token may hold', () => {
    const tokens = Array.from({ length: 100 }, createWebhookSecret)
    expect(new Set(tokens).size).toBe(100)
    for (const token of tokens) expect(token).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
  })

  test.each([
    '',
    'whsec_',
    'whsec_c2hvcnQ=',
    `whsec_${'A'.repeat(43)}`,
    `whsec_${'A'.repeat(43)}=\n`,
    `whsec_${'-'.repeat(43)}=`,
    `other_${'A'.repeat(43)}=`,
    'A'.repeat(44),
  ])('%j is none, and the error does not repeat it', (token) => {
    const sign = () => signWebhook({ id: 'run', timestampSeconds: 1, body: Buffer.from(''), token })
    expect(sign).toThrow(/^the callback token is invalid$/)
  })
})
