import { type ReactNode, useState } from 'react'
import { Button } from '../kit/button.tsx'
import { Check, Form, SearchField, Select, Switch, TextField } from '../kit/form.tsx'
import { showToast } from '../kit/toast.tsx'

const applications = ['Booking', 'Tracking', 'Invoices'].map((text) => ({ id: text.toLowerCase(), text }))

/** Every kind of input; one of them shows an error from the API. */
export function SampleForm(): ReactNode {
  const [name, setName] = useState('Nightly invoices')
  const [target, setTarget] = useState('htp://carrier')
  const [application, setApplication] = useState('booking')
  const [isOn, setOn] = useState(true)
  const [text, setText] = useState('')
  return (
    <Form
      id="sample"
      errors={{ target: 'target must start with http:// or https://' }}
      onSubmit={() => showToast(`Saved ${name}`)}
    >
      <div className="kit-form">
        <TextField label="Name" name="name" value={name} onChange={setName} isRequired />
        <TextField
          label="Target"
          name="target"
          value={target}
          onChange={setTarget}
          hint="The address of the partner"
        />
        <TextField label="Slug" value="baltic-cargo" onChange={() => undefined} isMono isReadOnly />
        <Select label="Application" value={application} options={applications} onChange={setApplication} />
        <TextField label="Description" value={text} onChange={setText} lines={3} />
        <SearchField label="Search" value={text} onChange={setText} />
        <Switch label="Enabled" isSelected={isOn} onChange={setOn} />
        <Check label="I have stored it" isSelected={isOn} onChange={setOn} />
        <Switch label="Not available" isSelected={false} onChange={() => undefined} isDisabled />
      </div>
      <div className="kit-row">
        <Button type="submit" variant="primary">
          Save
        </Button>
      </div>
    </Form>
  )
}
