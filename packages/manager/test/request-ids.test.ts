import { expect, test } from 'vitest'
import { newRequestId } from '../src/platform/ids.ts'

test('ids of requests are UUIDs of version 7, and none comes twice', () => {
  const ids = Array.from({ length: 20_000 }, newRequestId)
  expect(new Set(ids).size).toBe(20_000)
  const form = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
  expect(ids.filter((id) => !form.test(id))).toEqual([])
  // The last 12 digits are random. They are all different only if no part of the random pool is reused.
  expect(new Set(ids.map((id) => id.slice(-12))).size).toBe(20_000)
})
