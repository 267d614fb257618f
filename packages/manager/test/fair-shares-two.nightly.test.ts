// Tests that a quiet project gets its fair share despite two hostile projects.
import { testFairShares } from './kit/fair-shares.ts'

testFairShares(2)
