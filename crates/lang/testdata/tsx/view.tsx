import React from "react";

type Props = { title: string };

/** A heading with a button. */
export const Header: React.FC<Props> = ({ title }) => {
  const onClick = () => {};
  return (
    <header onClick={onClick}>
      <h1>{title}</h1>
    </header>
  );
};

export default function Page(props: Props): JSX.Element {
  return <Header title={props.title} />;
}
