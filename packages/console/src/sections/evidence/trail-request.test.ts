import { expect, test } from 'vitest'
import { createTrailRequest, readSignedCount } from './trail-request.ts'

test('only given bounds are sent', () => {
  expect(createTrailRequest('csv', { from: null, to: null }).path).toBe('/api/audit/export?format=csv')
  const { path, fileName } = createTrailRequest('ndjson', { from: '2026-01-01T00:00:00.000Z', to: null })
  expect(path).toBe('/api/audit/export?format=ndjson&from=2026-01-01T00%3A00%3A00.000Z')
  expect(fileName).toBe('audit-trail.ndjson')
})

test('an export is complete only with its signed last line', () => {
  const end = '{"export":{"count":2,"signature":"s"}}'
  expect(readSignedCount(`{"seq":1}\n{"seq":2}\n${end}\n`)).toBe(2)
  for (const text of ['', '{"seq":1}\n', '{"export":{"count":2}}', '{"export":{"count":'])
    expect([text, readSignedCount(text)]).toEqual([text, null])
})
