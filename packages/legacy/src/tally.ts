// Counts the steps of an import or of a plan: per view and per rule, with examples.
import { type RuleName, rules } from './rules.ts'
import type { Outcome, Step } from './steps.ts'
import { type ViewName, viewNames } from './views.ts'

export type ViewCounts = { view: ViewName; read: number } & Record<Outcome, number>
export type RuleCounts = { rule: RuleName; meaning: string; rows: number; examples: string[] }
export type Summary = { views: ViewCounts[]; rules: RuleCounts[] }

const maxExamples = 3

export function createTally() {
  const views = new Map(
    viewNames.map((view): [ViewName, ViewCounts] => [
      view,
      { view, read: 0, moved: 0, merged: 0, kept_aside: 0 },
    ]),
  )
  const byRule = new Map<RuleName, RuleCounts>()
  return {
    add: (step: Pick<Step, 'view' | 'oldId' | 'outcome' | 'rules'>): void => {
      const counts = views.get(step.view)
      if (counts === undefined) return
      counts.read++
      counts[step.outcome]++
      for (const rule of step.rules) {
        const ruleCounts = byRule.get(rule) ?? { rule, meaning: rules[rule], rows: 0, examples: [] }
        byRule.set(rule, ruleCounts)
        ruleCounts.rows++
        if (ruleCounts.examples.length < maxExamples) ruleCounts.examples.push(`${step.view} ${step.oldId}`)
      }
    },
    summary: (): Summary => ({
      views: [...views.values()],
      rules: [...byRule.values()].toSorted((a, b) => (a.rule < b.rule ? -1 : 1)),
    }),
  }
}
