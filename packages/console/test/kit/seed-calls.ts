// A logged call whose panel shows everything: a failure, headers and bodies.
import { type Caller, seedCall } from '../../../manager/test/kit/esb-calls.ts'
import type { Scene } from './scene.ts'

/** Seeds the call and returns its key in addresses of the call log. */
export async function seedFailedCall(
  sql: Scene['service']['sql'],
  caller: Caller,
  { createdAt = new Date().toISOString(), requestId = 'r-late' } = {},
): Promise<string> {
  const id = await seedCall(sql, caller, {
    createdAt,
    requestId,
    responseStatus: 502,
    durationMs: 30_006,
    failure: 'the upstream timed out',
    requestHeaders: [
      { name: 'content-type', value: 'application/json' },
      { name: 'authorization', value: '[REDACTED]' },
    ],
    requestBody: '{"id": "o-4", "card": "[REDACTED]"}',
  })
  return `${Date.parse(createdAt)}-${id}`
}
