// Tests the Redis configuration: which settings each mode accepts and rejects.
import { describe, expect, test } from 'vitest'
import { countRedisConnections, createTopology } from '../../src/platform/redis/topology.ts'
import { minimalEnv, load, problemsOf, useFiles } from '../kit/config.ts'

const file = useFiles()
const problems = (env: Record<string, string>) => problemsOf({ ...minimalEnv, ...env })
const topology = (env: Record<string, string>, path?: string) =>
  createTopology(load({ ...minimalEnv, ...env }, path))

describe('Redis', () => {
  test('is one server where only its URL is given', () => {
    expect(topology({})).toEqual({ mode: 'single', address: '127.0.0.1:6379' })
    expect(topology({ SVC_REDIS_URL: 'rediss://:x@[::1]:7000/2' })).toEqual({
      mode: 'single',
      address: '[::1]:7000',
    })
  })

  test('is found by sentinels: that of the URL and the others', () => {
    const env = {
      SVC_REDIS_MODE: 'sentinel',
      SVC_REDIS_URL: 'redis://:x@a.example:26379/1',
      SVC_REDIS_NODES: 'b.example:26379,a.example:26379, c.example:26379',
      SVC_REDIS_MASTER_NAME: 'main',
    }
    const sentinels = ['a.example:26379', 'b.example:26379', 'c.example:26379']
    expect(topology(env)).toEqual({ mode: 'sentinel', sentinels, masterName: 'main' })
    expect(countRedisConnections(topology(env))).toBe(6)
  })

  test('is a cluster, from a file too', () => {
    const path = file('cluster.yaml', 'redis:\n  mode: cluster\n  nodes: [b.example:7001, "[::1]:7002"]\n')
    expect(topology({ SVC_REDIS_URL: 'redis://a.example:7000/0' }, path)).toEqual({
      mode: 'cluster',
      nodes: ['a.example:7000', 'b.example:7001', '[::1]:7002'],
    })
    expect(countRedisConnections(topology({}, path))).toBeGreaterThan(6)
  })

  test('is refused with settings of another mode, each with what to do', () => {
    const all = {
      SVC_REDIS_NODES: 'b.example:7001',
      SVC_REDIS_MASTER_NAME: 'main',
      SVC_REDIS_SENTINEL_PASSWORD: 'watchword',
    }
    const name = 'SVC_REDIS_MASTER_NAME (redis.master_name)'
    const password = 'SVC_REDIS_SENTINEL_PASSWORD (redis.sentinel_password)'
    const refusal = (what: string, mode: string, meant: string): string =>
      `${what} is set, but SVC_REDIS_MODE (redis.mode) is ${mode}; set the mode to ${meant}, or remove ${what}`
    expect(problems(all)).toEqual([
      refusal('SVC_REDIS_NODES (redis.nodes)', 'single', 'sentinel or cluster'),
      refusal(name, 'single', 'sentinel'),
      refusal(password, 'single', 'sentinel'),
    ])
    expect(problems({ ...all, SVC_REDIS_MODE: 'cluster' })).toEqual([
      refusal(name, 'cluster', 'sentinel'),
      refusal(password, 'cluster', 'sentinel'),
    ])
    expect(problems({ ...all, SVC_REDIS_MODE: 'sentinel' })).toEqual([])
    expect(problems({ SVC_REDIS_MODE: 'sentinel' })).toEqual([
      'SVC_REDIS_MASTER_NAME (redis.master_name) is required when SVC_REDIS_MODE (redis.mode) is sentinel: Name of the master in the configuration of the sentinels; required with `redis.mode` `sentinel`.',
    ])
    expect(problems({ SVC_REDIS_MODE: 'cluster', SVC_REDIS_URL: 'redis://h/1' })).toEqual([
      'SVC_REDIS_URL (redis.url) names a database, but a cluster has only database 0; remove it from the URL',
    ])
  })

  test('nodes that are no places, or too many, are refused', () => {
    const many = Array.from({ length: 33 }, (_, n) => `10.0.0.${n}:6379`).join(',')
    for (const nodes of [
      'h',
      'h:0',
      'h:65536',
      'h:x',
      'redis://h:1',
      'u:p@h:1',
      '[::zz]:1',
      '[1.2.3.4]:1',
      'h:1,,:2',
      many,
    ])
      expect([nodes, problems({ SVC_REDIS_MODE: 'cluster', SVC_REDIS_NODES: nodes })]).toEqual([
        nodes,
        ['SVC_REDIS_NODES must be a list of at most 32 addresses such as 10.0.0.2:6379 or [fd12::5]:6379'],
      ])
    expect(problems({ SVC_REDIS_MODE: 'shared' })).toEqual([
      'SVC_REDIS_MODE must be one of single, sentinel, cluster',
    ])
  })
})
