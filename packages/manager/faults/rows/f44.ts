// F44: the master of Redis is frozen, Sentinel makes another, and the frozen one comes back with what it knew.
import { defineSentinelRow } from '../mixed/sentinel.ts'

export const f44 = defineSentinelRow({
  id: 'F44',
  title: 'the master of Redis under Sentinel is frozen, under all features',
  fault: 'SIGSTOP',
})
