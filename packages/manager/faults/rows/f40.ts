// F40: planned change of the leader of PostgreSQL; another node takes over.
import { defineFailoverRow } from '../mixed/failover.ts'

export const f40 = defineFailoverRow({
  id: 'F40',
  title: 'planned change of the leader of PostgreSQL, under all features',
  fault: 'switchover',
})
