// F43: the master of Redis is killed, and Sentinel makes another.
import { defineSentinelRow } from '../mixed/sentinel.ts'

export const f43 = defineSentinelRow({
  id: 'F43',
  title: 'kill -9 of the master of Redis under Sentinel, under all features',
  fault: 'SIGKILL',
})
