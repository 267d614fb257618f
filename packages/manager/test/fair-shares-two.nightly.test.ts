// Tests that the quiet project gets its share next to two hostile projects.
import { testFairShares } from './kit/fair-shares.ts'

testFairShares(2)
