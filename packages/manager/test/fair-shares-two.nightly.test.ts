// Two hostile projects: together they must not have everything.
import { testFairShares } from './kit/fair-shares.ts'

testFairShares(2)
