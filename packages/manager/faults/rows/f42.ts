// F42: the leader of PostgreSQL is cut off from everyone; another node takes over.
import { defineFailoverRow } from '../mixed/failover.ts'

export const f42 = defineFailoverRow({
  id: 'F42',
  title: 'the leader of PostgreSQL is cut off from everyone, under all features',
  fault: 'partition',
})
