import { expect, test } from 'vitest'
import { ownServicesOf } from './own-services.ts'

const redis = { host: 'redis.internal', port: 6379 }
const health = { host: '0.0.0.0', port: 8081 }
const servicesWith = (databaseUrl: string) =>
  ownServicesOf({ databaseUrl, redisUrl: 'redis://redis.internal', healthHost: '0.0.0.0', healthPort: 8081 })

test.each([
  ['postgres://svc:secret@db.internal/manager', { host: 'db.internal', port: 5432 }],
  ['postgres://svc:secret@db.internal:6000/manager', { host: 'db.internal', port: 6000 }],
  ['postgres://svc@[fd12::5]:6000/manager', { host: 'fd12::5', port: 6000 }],
  // The driver prefers what the query says.
  ['postgres://svc@front.internal/manager?host=db.internal&port=6001', { host: 'db.internal', port: 6001 }],
  ['postgres:///manager?host=db.internal', { host: 'db.internal', port: 5432 }],
])('the database of %s is where the driver connects', (url, database) => {
  expect(servicesWith(url)).toEqual([database, redis, health])
})

test('a socket file is no host', () => {
  expect(servicesWith('postgres:///manager?host=/run/postgresql')).toEqual([redis, health])
})

test.each([
  ['redis://:secret@127.0.0.1:6390/1', { host: '127.0.0.1', port: 6390 }],
  ['rediss://redis.internal', { host: 'redis.internal', port: 6379 }],
  ['redis://[::1]:6390', { host: '[::1]', port: 6390 }],
])('Redis of %s is read', (redisUrl, expected) => {
  const databaseUrl = 'postgres://db.internal/manager'
  expect(ownServicesOf({ databaseUrl, redisUrl, healthHost: '', healthPort: 8081 }).slice(1)).toEqual([
    expected,
  ])
})
