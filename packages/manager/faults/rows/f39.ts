// F39: kill -9 of the leader of PostgreSQL; another node takes over.
import { defineFailoverRow } from '../mixed/failover.ts'

export const f39 = defineFailoverRow({
  id: 'F39',
  title: 'kill -9 of the leader of PostgreSQL, under all features',
  fault: 'kill',
})
