import { expect, test } from 'vitest'
import type { Failure } from '../../api/failures.ts'
import { dropEdited, readValues, toInput } from './specification-values.ts'

const values = { ...readValues(null), workload: ' shop/web ', image: 'registry.example/shop:1' }

test('a new specification starts with the defaults of the API', () => {
  expect(toInput(values, 'whole')).toEqual({
    input: {
      workload: 'shop/web',
      image: 'registry.example/shop:1',
      version: '',
      minReplicas: 1,
      maxReplicas: 1,
      port: 8_080,
      healthPath: '/health',
      readinessTimeoutSeconds: 60,
    },
  })
})

test('all fields that contain no whole number are reported together', () => {
  expect(toInput({ ...values, port: '80.5', minReplicas: '', maxReplicas: '1e3' }, 'whole')).toEqual({
    problems: ['minReplicas', 'maxReplicas', 'port'].map((path) => ({ path, message: 'whole' })),
  })
})

test('a number that the API cannot read is sent as the largest one, so that the API states its range', () => {
  expect(toInput({ ...values, port: '99999999999', minReplicas: '-99999999999' }, 'whole')).toMatchObject({
    input: { port: 2_147_483_647, minReplicas: -2_147_483_647 },
  })
})

test('the error of a field ends when the field, or a related one, is edited', () => {
  const failure: Failure = {
    kind: 'invalid',
    message: 'invalid',
    fields: ['input.minReplicas', 'input.port'].map((path) => ({ path, message: 'invalid' })),
    requestId: null,
    retryAfterMs: null,
    changedBy: null,
  }
  const listShown = (...edited: string[]) =>
    dropEdited(failure, new Set(edited))?.fields.map(({ path }) => path) ?? null
  expect(listShown()).toEqual(['input.minReplicas', 'input.port'])
  expect(listShown('maxReplicas')).toEqual(['input.port'])
  expect(listShown('minReplicas', 'port')).toBe(null)
  expect(dropEdited({ ...failure, fields: [] }, new Set(['port']))).toMatchObject({ fields: [] })
})
