import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeHint, encodeHint, maxMessageLength } from './hint-message.pure.ts'
import type { Audience } from './hints.pure.ts'

const audience: fc.Arbitrary<Audience> = fc.oneof(
  fc.constant({ everyone: true as const }),
  fc.record({ users: fc.array(fc.uuid()), roles: fc.array(fc.string()), members: fc.boolean() }),
)
const message = fc.record({
  sentAt: fc.nat(),
  hint: fc.record(
    {
      applicationId: fc.uuid(),
      audience,
      text: fc.json(),
      mayDrop: fc.boolean(),
      exceptConnection: fc.uuid(),
    },
    { requiredKeys: ['applicationId', 'audience', 'text', 'mayDrop'] },
  ),
})

describe('a hint between processes', () => {
  test('arrives as it was sent', () => {
    fc.assert(
      fc.property(message, (sent) => {
        expect(decodeHint(encodeHint(sent))).toEqual({ ...sent })
      }),
    )
  })

  test('that is none is left out', () => {
    const head = { at: 1, application: 'a', audience: { everyone: true }, drop: true }
    const wrong = [
      '',
      '{}',
      '\n',
      'null\n{}',
      '{}\n{}',
      '[1]\n{}',
      JSON.stringify(head),
      `${JSON.stringify({ ...head, at: '1' })}\n{}`,
      `{"at":-1e999,${JSON.stringify({ ...head, at: undefined }).slice(1)}\n{}`,
      `${JSON.stringify({ ...head, application: 1 })}\n{}`,
      `${JSON.stringify({ ...head, audience: null })}\n{}`,
      `${JSON.stringify({ ...head, audience: { users: 'all', roles: [], members: true } })}\n{}`,
      `${JSON.stringify({ ...head, audience: { users: [1], roles: [], members: true } })}\n{}`,
      `${JSON.stringify({ ...head, audience: { users: [], roles: [] } })}\n{}`,
      `${JSON.stringify({ ...head, audience: { everyone: false, users: [], roles: [], members: false } })}\n{}`,
      `${JSON.stringify(head)}\n${'x'.repeat(maxMessageLength)}`,
    ]
    for (const one of wrong) expect([one.slice(0, 200), decodeHint(one)]).toEqual([one.slice(0, 200), null])
    expect(decodeHint(`${JSON.stringify(head)}\n{}`)).not.toBeNull()
    fc.assert(fc.property(fc.string(), (text) => void decodeHint(text)))
  })
})
