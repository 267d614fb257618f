import { expect, test } from 'vitest'
import { divideConnections } from './open-files.ts'

const needs = {
  database: 30,
  redis: 2,
  blobStores: 0,
  directory: 0,
  threads: 4,
  maxApi: 10_000,
  maxOutbound: 5_000,
  maxSockets: 10_000,
}

test('an unlimited number of open files gives every kind its upper limit', () => {
  expect(divideConnections(Infinity, needs)).toEqual({
    api: 10_000,
    outbound: 5_000,
    callbacks: 10_000,
    sockets: 10_000,
  })
})
