def first
  1
end

class Second
  def third(a, 
    a +
  end

  def fourth
    4
  end
end

def fifth
  5
end
