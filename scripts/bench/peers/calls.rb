# What a run of a project's tests calls: for each line that calls a method by a name, where that
# method is defined. Loaded before the tests; writes at the end, a line each, to CALLS_TO:
# path, line, name, path and line of the definition ("-": none in a file).
calls = {}
root = "#{File.realpath(ENV.fetch("CALLS_ROOT"))}/"
made = ->(name) { name == :initialize ? :new : name }
TracePoint.new(:call, :c_call) do |point|
  if point.event == :c_call
    from, line = point.path, point.lineno
    next if point.method_id == :new || !from.start_with?(root)

    calls[[from, line, point.method_id, "-", 0]] = true
  else
    # A method that is written in C stands on its caller's line, as `new` does.
    place = caller_locations(2, 1)&.first
    from = place&.absolute_path
    next unless from&.start_with?(root)

    calls[[from, place.lineno, made.(point.method_id), point.path, point.lineno]] = true
  end
end.enable
at_exit do
  at_exit do
    File.open(ENV.fetch("CALLS_TO"), "w") do |out|
      calls.each_key { |one| out.puts(one.join("\t")) }
    end
  end
end
