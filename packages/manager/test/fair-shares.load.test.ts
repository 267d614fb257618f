import { testFairShares } from './kit/fair-shares.ts'

testFairShares(5)
