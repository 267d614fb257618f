// Types of API rows, as the pages about triggers read them.
import type {
  TriggerDetailResult,
  TriggerListOfApplicationResult,
  TriggerNewestRunsResult,
} from '../../generated/documents.ts'

export type Trigger = TriggerDetailResult['trigger']
type ListedTrigger = TriggerListOfApplicationResult['triggersConnection']['nodes'][number]
export type TriggerRow = ListedTrigger & {
  readonly application: { readonly id: string; readonly name: string }
}
export type Run = TriggerNewestRunsResult['triggerRuns'][number]
