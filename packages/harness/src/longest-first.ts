// Starts the longest test files first. Vitest knows no durations on a clean checkout and starts the largest files
// first. A long file that starts last keeps one core busy while the other is idle.
import { BaseSequencer, type TestSpecification, type TestSequencerConstructor } from 'vitest/node'

/** Returns a sequencer that starts the files whose paths contain one of the names before all others, in this order. */
export function createLongestFirst(names: readonly string[]): TestSequencerConstructor {
  const getRank = ({ moduleId }: TestSpecification): number => {
    const index = names.findIndex((name) => moduleId.includes(`/${name}.`))
    return index === -1 ? names.length : index
  }
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      const sortedFiles = await super.sort(files)
      return sortedFiles.toSorted((a, b) => getRank(a) - getRank(b))
    }
  }
}
