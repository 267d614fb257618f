// F41: the leader of PostgreSQL is frozen, with its Patroni; another node takes over.
import { defineFailoverRow } from '../mixed/failover.ts'

export const f41 = defineFailoverRow({
  id: 'F41',
  title: 'the leader of PostgreSQL is frozen, with its Patroni, under all features',
  fault: 'freeze-all',
})
