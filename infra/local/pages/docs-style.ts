// The style sheet of the API page: light and dark, narrow and wide. Contrasts of text are at least 4.5 to 1.

export const STYLE = `
:root {
  --paper: #ffffff; --quiet: #f5f7f9; --line: #d9dfe5; --ink: #1a2027; --soft: #525d69; --link: #0a58c2;
  --get: #0a58c2; --post: #12713c; --put: #8a5200; --delete: #b3261e; --on: #ffffff;
  --name: #0a4f9e; --text: #12692f; --value: #9a3412;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #11161b; --quiet: #191f26; --line: #313a44; --ink: #e5e9ee; --soft: #a3aeb9; --link: #7db4ff;
    --get: #7db4ff; --post: #6fcf97; --put: #f0b860; --delete: #ff9a91; --on: #11161b;
    --name: #8fc1ff; --text: #86d6a5; --value: #f5b08a;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 3px; }
.skip { position: absolute; left: -100vw; z-index: 2; padding: .5rem 1rem; background: var(--paper); }
.skip:focus { left: .5rem; top: .5rem; }

nav { position: fixed; inset: 0 auto 0 0; width: 19rem; overflow-y: auto; padding: 1.5rem 1rem; background: var(--quiet); border-right: 1px solid var(--line); }
nav ul { list-style: none; margin: 0; padding: 0; }
nav > ul > li { margin-top: 1rem; }
nav > ul > li > a { font-weight: 600; color: var(--ink); }
nav a { display: block; padding: .2rem .4rem; border-radius: 4px; text-decoration: none; color: var(--soft); }
nav a:hover { background: var(--line); color: var(--ink); }
nav .title { font-weight: 700; color: var(--ink); font-size: 1.1rem; }
nav .title span, h1 span { font-weight: 400; color: var(--soft); }
nav ul ul a { display: flex; gap: .5rem; align-items: baseline; font-size: .875rem; line-height: 1.35; }

main { margin-left: 19rem; padding: 2rem 3rem 6rem; max-width: 96rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 1.5rem; }
h2 { font-size: 1.5rem; line-height: 1.25; margin: 3.5rem 0 .5rem; }
.words h2 { font-size: 1.15rem; margin-top: 2rem; }
h3 { font-size: 1.2rem; margin: 0; }
h3 a { color: inherit; text-decoration: none; }
h3 a:hover { text-decoration: underline; }
h4 { font-size: .8125rem; margin: 1.5rem 0 .4rem; color: var(--soft); text-transform: uppercase; letter-spacing: .05em; }
.words > p, article p { max-width: 46rem; }
article { border-top: 1px solid var(--line); padding: 2rem 0; margin-top: 2rem; }
article:target h3 { text-decoration: underline; text-decoration-color: var(--link); text-underline-offset: .25em; }
.resource { margin-top: 2.5rem; }
.address { margin: .4rem 0 0; overflow-wrap: anywhere; }
.columns { display: grid; grid-template-columns: minmax(0, 1.15fr) minmax(0, 1fr); gap: 0 2.5rem; }
.examples h4:first-child { margin-top: 1rem; }

code, pre { font-family: ui-monospace, "SFMono-Regular", Menlo, Consolas, monospace; font-size: .875em; }
code { overflow-wrap: anywhere; }
p code, td code, li code, dd code { background: var(--quiet); border: 1px solid var(--line); border-radius: 4px; padding: .05em .3em; }
.address code { background: none; border: 0; font-size: 1rem; padding: 0; }
pre { margin: 0; padding: 1rem; background: var(--quiet); border: 1px solid var(--line); border-radius: 8px; overflow: auto; max-height: 34rem; line-height: 1.5; }
pre code { overflow-wrap: normal; font-size: .8125rem; }
.words pre { max-width: 46rem; }
pre i { font-style: normal; }
.name { color: var(--name); }
.text { color: var(--text); }
.value { color: var(--value); }

.method { flex: none; display: inline-block; min-width: 3.6rem; padding: .1rem .35rem; border-radius: 4px; text-align: center; font: 700 .6875rem/1.5 ui-monospace, Menlo, Consolas, monospace; color: var(--on); }
.get { background: var(--get); }
.post { background: var(--post); }
.put { background: var(--put); }
.delete { background: var(--delete); }

.facts { margin: 1rem 0 0; }
.facts div { display: flex; gap: .75rem; margin: .3rem 0; }
.facts dt { flex: none; width: 4rem; color: var(--soft); }
.facts dd { margin: 0; }
.table { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .875rem; }
th { text-align: left; font-weight: 600; color: var(--soft); }
th, td { padding: .45rem .75rem .45rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td code { overflow-wrap: break-word; }
td .details { overflow-wrap: anywhere; }
td:last-child { min-width: 12rem; }
small { color: var(--soft); font-size: .8125rem; white-space: nowrap; }
.words .table { max-width: 60rem; }
.words td:not(:last-child) { white-space: nowrap; }
details { margin-top: 1.5rem; }
summary { cursor: pointer; font-weight: 600; padding: .25rem 0; }
.details { display: inline-block; margin-top: .25rem; font-size: .75rem; }

@media (max-width: 75rem) { .columns { grid-template-columns: minmax(0, 1fr); } }
@media (max-width: 56rem) {
  html { scroll-padding-top: 4.5rem; }
  nav { position: sticky; inset: 0 0 auto; z-index: 1; width: auto; padding: .5rem; overflow-x: auto; border: 0; border-bottom: 1px solid var(--line); }
  nav > ul { display: flex; gap: .25rem; }
  nav > ul > li { margin: 0; }
  nav > ul > li > a { padding: .6rem .6rem; white-space: nowrap; }
  nav ul ul, nav .title { display: none; }
  main { margin: 0; padding: 1.25rem 1rem 4rem; }
}
@media print { nav, .skip { display: none; } main { margin: 0; } pre { max-height: none; } }
`;
